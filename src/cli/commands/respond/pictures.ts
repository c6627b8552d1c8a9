import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ResponseResource } from '../../../shared/contract/responses.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { pictureIn } from '../../../shared/pictures.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../failures/cli-error.ts';

/** The option of commands that show an answer. */
export const picturesOption = [
  '--pictures <folder>',
  'where to write what a model draws, a file each',
] as const;

/** Makes the folder for pictures before a call costs anything. */
export function preparePictures(folder: string | undefined): void {
  if (folder === undefined) return;
  try {
    mkdirSync(folder, { recursive: true });
  } catch (cause) {
    throw new CliError(`The folder ${folder} cannot be made.`, { exit: exitCodes.usage, cause });
  }
}

/** Writes the pictures of an answer into the folder, each under the id of its item, and tells where; says so if there is no folder. */
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
    out.note('The answer has pictures: --pictures FOLDER keeps them, --json has them in base64.');
    return;
  }
  for (const { id, mimeType, data } of pictures) {
    const file = join(folder, `${id}.${mimeType.replace('image/', '')}`);
    writePicture(file, Buffer.from(data, 'base64'), responseId);
    out.note(`Picture: ${file}`);
  }
}

function writePicture(file: string, bytes: Uint8Array, responseId: string): void {
  try {
    writeFileSync(file, bytes, { flag: 'wx' });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new CliError(`The picture cannot be written to ${file} (${code}).`, {
      exit: exitCodes.partlyDone,
      next: `The response has it still, if it was stored: gateway responses get ${responseId} --pictures FOLDER`,
      cause,
    });
  }
}
