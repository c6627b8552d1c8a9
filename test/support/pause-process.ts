/** Nothing runs in this process for so long, as on a busy machine; what others have sent waits in its sockets. */
export function pauseProcess(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
