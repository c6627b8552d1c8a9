/** A question about a document; the options are shown in this order. */
export interface OptionsQuestion {
  instruction: string;
  options: readonly string[];
}

/** A model file that can be run. Rejections are `UpstreamFailure`s, whose message says what is wrong. */
export interface RunningModel {
  /** The process id; undefined while the model is not in memory. */
  readonly pid: number | undefined;
  /** Loads the model, if it is not in memory. `trainedTokens`: the longest input and output that it was made for. */
  load(): Promise<{ architecture: string; trainedTokens: number }>;
  /** The SHA-256 of the file, in hex. */
  digest(): Promise<string>;
  /** The probabilities of each question's options; one question's add up to 1. */
  decide(
    request: { document: string; questions: readonly OptionsQuestion[] },
    signal?: AbortSignal,
  ): Promise<{ probabilities: number[][]; inputTokens: number }>;
  /** Removes the model from memory for good; running requests fail. */
  close(): Promise<void>;
}

/** Runs models in processes of their own. */
export interface ModelRunner<Model extends RunningModel = RunningModel> {
  /** Whether the library that runs models is installed. */
  isInstalled(): boolean;
  /** The size of a model file in bytes; undefined if there is no such file, or it is not in the GGUF format. */
  sizeOf(path: string): Promise<number | undefined>;
  /** `bytes`: the size that the file had when it was added. */
  open(file: { name: string; path: string; bytes: number }): Model;
}
