/** A picture that a model made. */
export interface Picture {
  /** `image/png` and its like. */
  mimeType: string;
  /** Base64, without line ends. */
  data: string;
}

type Json = Record<string, unknown>;

const type = 'image_generation_call';

/** A picture as an item of the Responses format. Source: OpenAI's API reference, image generation calls. */
export function pictureItem({ mimeType, data }: Picture): Json {
  return { type, status: 'completed', result: data, output_format: mimeType.replace('image/', '') };
}

/** The picture that an item of the Responses format is; undefined for other items, and before it is made. */
export function pictureIn({ type: told, result, output_format: format }: Json): Picture | undefined {
  if (told !== type || typeof result !== 'string' || result === '') return undefined;
  const isPlain = typeof format === 'string' && /^[a-z]{1,10}$/.test(format);
  return { mimeType: `image/${isPlain ? format : 'png'}`, data: result };
}

/** A picture as a chat message has it in `images`: a form that OpenRouter has made common. */
export function chatPicture({ mimeType, data }: Picture, index: number): Json {
  return { type: 'image_url', index, image_url: { url: `data:${mimeType};base64,${data}` } };
}

/** The picture in an entry of `images`; undefined for one that is elsewhere. */
export function pictureInChat(entry: unknown): Picture | undefined {
  const { image_url: image } = (entry ?? {}) as { image_url?: { url?: unknown } };
  const [, mimeType, data] = /^data:(image\/[a-z]{1,10});base64,([\w+/=-]+)$/.exec(String(image?.url)) ?? [];
  return mimeType !== undefined && data !== undefined ? { mimeType, data } : undefined;
}
