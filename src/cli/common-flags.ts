/** What the flags that every command has were set to. */
export interface CommonFlags {
  host?: string | undefined;
  /** True for all fields, or the names of those wanted, comma-separated. */
  json?: string | true | undefined;
  jq?: string | undefined;
  quiet?: boolean | undefined;
  /** False after `--no-color`. */
  color?: boolean | undefined;
}
