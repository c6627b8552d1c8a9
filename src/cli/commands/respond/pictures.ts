import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ResponseResource } from '../../../shared/contract/response-resource.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { pictureIn } from '../../../shared/formats/pictures.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../failures/cli-error.ts';

/** The option of commands that print an answer. */
export const picturesOption = ['--pictures <folder>', 'save generated images to this folder'] as const;

/** Creates the folder for images before the call costs anything. */
export function preparePictures(folder: string | undefined): void {
  if (folder === undefined) return;
  try {
    mkdirSync(folder, { recursive: true });
  } catch (cause) {
    throw new CliError(`Cannot create the folder ${folder}.`, { exit: exitCodes.usage, cause });
  }
}

/** Saves each image of an answer under the id of its item, and prints its path. Without a folder, prints how to save them. */
export function keepPictures(
  { out }: Context,
  { id: responseId, output }: ResponseResource,
  folder: string | undefined,
): void {
  const pictures = output.flatMap((item) => {
    const picture = pictureIn(item);
    return picture ? [{ ...picture, id: String(item.id).replace(/[^\w-]/g, '_') }] : [];
  });
  if (pictures.length === 0) return;
  if (folder === undefined) {
    out.note(
      'The answer contains images. Save them with --pictures FOLDER, or get them as base64 with --json.',
    );
    return;
  }
  for (const { id, mimeType, data } of pictures) {
    const file = join(folder, `${id}.${mimeType.replace('image/', '')}`);
    writePicture(file, Buffer.from(data, 'base64'), responseId);
    out.note(`Image: ${file}`);
  }
}

function writePicture(file: string, bytes: Uint8Array, responseId: string): void {
  try {
    writeFileSync(file, bytes, { flag: 'wx' });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new CliError(`Cannot write the image to ${file} (${code}).`, {
      exit: exitCodes.partlyDone,
      next: `If the response was stored: gateway responses get ${responseId} --pictures FOLDER`,
      cause,
    });
  }
}
