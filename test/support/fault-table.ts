export type FaultKind =
  | 'operator'
  | 'negated condition'
  | 'missing await'
  | 'swapped arguments'
  | 'forgotten release'
  | 'wrong constant'
  | 'removed return';

/** A mistake that users or operators would notice. */
export interface Fault {
  path: string;
  kind: FaultKind;
  /** Occurs once in the file. */
  text: string;
  replacement: string;
}

/** One in each of 60 folders. They compile, and none keeps the program from starting. */
export const plantedFaults: readonly Fault[] = [
  {
    path: 'src/cli/commands/payments.ts',
    kind: 'wrong constant',
    text: 'timeoutMs: timeout * 1000',
    replacement: 'timeoutMs: timeout * 100',
  },
  {
    path: 'src/cli/commands/doctor/machine.ts',
    kind: 'wrong constant',
    text: '(file.mode & 0o077) !== 0',
    replacement: '(file.mode & 0o007) !== 0',
  },
  {
    path: 'src/cli/commands/fetch/buy.ts',
    kind: 'operator',
    text: '(quote.amountMsats ?? 0) > maxSats * 1000',
    replacement: '(quote.amountMsats ?? 0) >= maxSats * 1000',
  },
  {
    path: 'src/cli/commands/keys/limits.ts',
    kind: 'swapped arguments',
    text: '{ ...limitsChange(flags), ...cleared }',
    replacement: '{ ...cleared, ...limitsChange(flags) }',
  },
  {
    path: 'src/cli/commands/respond/attachment.ts',
    kind: 'operator',
    text: 'left -= bytes.length;',
    replacement: 'left = attachmentsMax - bytes.length;',
  },
  {
    path: 'src/cli/commands/tail/event-line.ts',
    kind: 'operator',
    text: 'const isShort = widthOf(reason) <= room;',
    replacement: 'const isShort = widthOf(reason) < room;',
  },
  {
    path: 'src/cli/commands/traces/export-rows.ts',
    kind: 'forgotten release',
    text: '    this.#isHead = true;\n    this.#open = undefined;\n',
    replacement: '    this.#isHead = true;\n',
  },
  {
    path: 'src/cli/hosts/remote-login.ts',
    kind: 'missing await',
    text: 'return await use(openKeychain(',
    replacement: 'return use(openKeychain(',
  },
  {
    path: 'src/cli/output/table.ts',
    kind: 'operator',
    text: "!column.isWhole && column.align !== 'right'",
    replacement: "!column.isWhole || column.align !== 'right'",
  },
  {
    path: 'src/cli/terminal/read-hidden.ts',
    kind: 'forgotten release',
    text: '          line = [];\n          void stop();\n',
    replacement: '          void stop();\n',
  },
  {
    path: 'src/cli/tui/text/line-edit.ts',
    kind: 'wrong constant',
    text: 'Math.min(above + edit.cursor - start, start - 1)',
    replacement: 'Math.min(above + edit.cursor - start, start)',
  },
  {
    path: 'src/cli/tui/state/list-view.ts',
    kind: 'removed return',
    text: '    if (find !== this.#finds || (before && this.found !== before)) return;\n',
    replacement: '',
  },
  {
    path: 'src/cli/tui/chat/chat-model.ts',
    kind: 'forgotten release',
    text: '      this.#attached = [];\n      return files',
    replacement: '      return files',
  },
  {
    path: 'src/cli/tui/services/api-call-log.ts',
    kind: 'negated condition',
    text: 'template === putProviderKey.path',
    replacement: 'template !== putProviderKey.path',
  },
  {
    path: 'src/shared/money/money.ts',
    kind: 'operator',
    text: 'if (inputTokens > tier.aboveInputTokens &&',
    replacement: 'if (inputTokens >= tier.aboveInputTokens &&',
  },
  {
    path: 'src/shared/comparison/prompt-cache.ts',
    kind: 'operator',
    text: '(later[items] as CallPart[]).length <= left)',
    replacement: '(later[items] as CallPart[]).length < left)',
  },
  {
    path: 'src/shared/calls/query.ts',
    kind: 'operator',
    text: 'if (values.length > valuesMax)',
    replacement: 'if (values.length >= valuesMax)',
  },
  {
    path: 'src/shared/replay/prepare-replay.ts',
    kind: 'wrong constant',
    text: 'const next = steps[at + 1] ?? last;',
    replacement: 'const next = steps[at] ?? last;',
  },
  {
    path: 'src/keychain/keychain.ts',
    kind: 'forgotten release',
    text: '    clearTimeout(timer);\n    timer = setTimeout(end, request.limitMs);\n',
    replacement: '    timer = setTimeout(end, request.limitMs);\n',
  },
  {
    path: 'src/daemon/config/import-litellm.ts',
    kind: 'operator',
    text: "upstream.models[0] !== '*' && !upstream.models.includes(model)",
    replacement: "upstream.models[0] !== '*' || !upstream.models.includes(model)",
  },
  {
    path: 'src/daemon/process/watch-config.ts',
    kind: 'operator',
    text: 'if (isOnTerminal && !hasTerminal()) onHangUp();',
    replacement: 'if (isOnTerminal || !hasTerminal()) onHangUp();',
  },
  {
    path: 'src/daemon/telemetry/exposition.ts',
    kind: 'wrong constant',
    text: '.inc(microseconds / 1e6)',
    replacement: '.inc(microseconds / 1e3)',
  },
  {
    path: 'src/daemon/http/sockets/peer-watch.ts',
    kind: 'forgotten release',
    text: '    this.#stalled.delete(socket);\n',
    replacement: '',
  },
  {
    path: 'src/daemon/http/protection/rate-limit.ts',
    kind: 'operator',
    text: 'if (count >= max) {',
    replacement: 'if (count > max) {',
  },
  {
    path: 'src/daemon/reverse-proxy/forward.ts',
    kind: 'negated condition',
    text: 'if (error instanceof NeverSent) await this.giveBack',
    replacement: 'if (!(error instanceof NeverSent)) await this.giveBack',
  },
  {
    path: 'src/daemon/workers/call-workers.ts',
    kind: 'forgotten release',
    text: "        link.tell('contentTaken', bytes);\n",
    replacement: '        void bytes;\n',
  },
  {
    path: 'src/daemon/features/calls/meter.ts',
    kind: 'forgotten release',
    text: '    this.#reported = undefined;\n',
    replacement: '',
  },
  {
    path: 'src/daemon/features/calls/pricing/cost-bound.ts',
    kind: 'negated condition',
    text: 'media.most += part.data === undefined ?',
    replacement: 'media.most += part.data !== undefined ?',
  },
  {
    path: 'src/daemon/features/routing/open-route.ts',
    kind: 'operator',
    text: 'if (balance.tenths < 10) return false;',
    replacement: 'if (balance.tenths <= 10) return false;',
  },
  {
    path: 'src/daemon/features/alerts/deliveries.ts',
    kind: 'operator',
    text: 'isDelivered || isFinal || waitMs === undefined;',
    replacement: 'isDelivered || (isFinal && waitMs === undefined);',
  },
  {
    path: 'src/daemon/features/metering/credit.ts',
    kind: 'negated condition',
    text: 'isPrepaid(workspaceId) ? await admission',
    replacement: '!isPrepaid(workspaceId) ? await admission',
  },
  {
    path: 'src/daemon/features/wallet/unpaid-invoices.ts',
    kind: 'operator',
    text: 'issued.expiresAt + this.#graceMs',
    replacement: 'issued.expiresAt - this.#graceMs',
  },
  {
    path: 'src/daemon/features/paywalls/gate.ts',
    kind: 'negated condition',
    text: 'if (maxUses !== null) await store.giveBack(tokenId);',
    replacement: 'if (maxUses === null) await store.giveBack(tokenId);',
  },
  {
    path: 'src/daemon/features/idempotency/idempotency.ts',
    kind: 'removed return',
    text: '      if (found.fingerprint !== fingerprint) throw conflict();\n',
    replacement: '',
  },
  {
    path: 'src/daemon/features/vault/rotate-master.ts',
    kind: 'negated condition',
    text: 'if (needed.has(kid)) continue;',
    replacement: 'if (!needed.has(kid)) continue;',
  },
  {
    path: 'src/daemon/features/keys/credential-ends.ts',
    kind: 'swapped arguments',
    text: 'usedAt: lastUsedAt ?? createdAt',
    replacement: 'usedAt: createdAt ?? lastUsedAt',
  },
  {
    path: 'src/daemon/features/inference/formats/messages/validate.ts',
    kind: 'operator',
    text: 'budget >= maxTokens &&',
    replacement: 'budget > maxTokens &&',
  },
  {
    path: 'src/daemon/features/inference/formats/chat-completions/stream.ts',
    kind: 'removed return',
    text: '      if (!choice.index) continue;\n',
    replacement: '',
  },
  {
    path: 'src/daemon/features/inference/lifecycles/background/event-log.ts',
    kind: 'operator',
    text: 'const isStored = seen < this.#storedThrough;',
    replacement: 'const isStored = seen <= this.#storedThrough;',
  },
  {
    path: 'src/daemon/features/inference/translation/stop-sequences.ts',
    kind: 'operator',
    text: '(end === first.end && start < first.start)',
    replacement: '(end === first.end && start > first.start)',
  },
  {
    path: 'src/daemon/features/events/event-feed.ts',
    kind: 'operator',
    text: 'after < (await store.prunedTo())',
    replacement: 'after <= (await store.prunedTo())',
  },
  {
    path: 'src/daemon/features/payment-required/challenges.ts',
    kind: 'operator',
    text: 'credential.take(credentialId(caller)) || address.take(remoteAddress)',
    replacement: 'credential.take(credentialId(caller)) ?? address.take(remoteAddress)',
  },
  {
    path: 'src/daemon/features/capture/capture-level.ts',
    kind: 'operator',
    text: "caller.kind !== 'agent' && caller.workspaceId === hostWorkspaceId",
    replacement: "caller.kind !== 'agent' || caller.workspaceId === hostWorkspaceId",
  },
  {
    path: 'src/daemon/features/row-streams/row-feed.ts',
    kind: 'operator',
    text: 'Math.min(following.after ?? last, last)',
    replacement: 'Math.min(following.after || last, last)',
  },
  {
    path: 'src/daemon/features/traces/export/har.ts',
    kind: 'swapped arguments',
    text: 'wait: waitMs, receive: receiveMs',
    replacement: 'wait: receiveMs, receive: waitMs',
  },
  {
    path: 'src/daemon/upstream/answer-batches.ts',
    kind: 'swapped arguments',
    text: 'this.#waitOn(performance.now() - startedAt, decoded.length)',
    replacement: 'this.#waitOn(decoded.length, performance.now() - startedAt)',
  },
  {
    path: 'src/daemon/upstream/providers/anthropic/dialect.ts',
    kind: 'operator',
    text: 'textOf(block.signature) || undefined',
    replacement: 'textOf(block.signature) ?? undefined',
  },
  {
    path: 'src/daemon/upstream/providers/google/functions.ts',
    kind: 'wrong constant',
    text: 'name.slice(0, 54)',
    replacement: 'name.slice(0, 56)',
  },
  {
    path: 'src/daemon/upstream/providers/openai-chat/tool-calls.ts',
    kind: 'negated condition',
    text: 'call.id === said.id && !this.#byId.has(said.id)',
    replacement: 'call.id === said.id && this.#byId.has(said.id)',
  },
  {
    path: 'src/daemon/upstream/lightning/nwc.ts',
    kind: 'removed return',
    text: "      if (answer.refusal === 'NOT_FOUND') return undefined;\n",
    replacement: '',
  },
  {
    path: 'src/daemon/upstream/engine/model-process.ts',
    kind: 'removed return',
    text: '    if (this.#open > 0) return;\n',
    replacement: '',
  },
  {
    path: 'src/daemon/upstream/recordings/matching.ts',
    kind: 'negated condition',
    text: '!/key|token|auth|sig|secret|password/i.test(name)',
    replacement: '/key|token|auth|sig|secret|password/i.test(name)',
  },
  {
    path: 'src/daemon/storage/content/memory-shelf.ts',
    kind: 'forgotten release',
    text: '    const before = this.#records.get(number);\n    if (before) this.#release(before);\n',
    replacement: '',
  },
  {
    path: 'src/daemon/storage/sqlite/metering/usage/prune-slots.ts',
    kind: 'operator',
    text: 'if (day === undefined || day >= before) break;',
    replacement: 'if (day === undefined || day > before) break;',
  },
  {
    path: 'src/daemon/storage/sqlite/traces/call-conditions.ts',
    kind: 'operator',
    text: 'calls.cost_provider + calls.cost_margin >= @minCost',
    replacement: 'calls.cost_provider - calls.cost_margin >= @minCost',
  },
  {
    path: 'src/daemon/storage/sqlite/backups/restore.ts',
    kind: 'operator',
    text: 'if (found < oldest || found > newest) {',
    replacement: 'if (found < oldest && found > newest) {',
  },
  {
    path: 'src/daemon/storage/postgres/copy/row-text.ts',
    kind: 'operator',
    text: 'exponent >= -4 && exponent < 15',
    replacement: 'exponent > -4 && exponent < 15',
  },
  {
    path: 'src/web/data/api.ts',
    kind: 'missing await',
    text: 'return await run(clientFor(secret));',
    replacement: 'return run(clientFor(secret));',
  },
  {
    path: 'src/web/screens/usage/usage-rows.ts',
    kind: 'swapped arguments',
    text: "Date.parse(b.bucket?.start ?? '') - Date.parse(a.bucket?.start ?? '')",
    replacement: "Date.parse(a.bucket?.start ?? '') - Date.parse(b.bucket?.start ?? '')",
  },
  {
    path: 'src/web/screens/playground/lane.ts',
    kind: 'negated condition',
    text: '...(!signal.aborted && { error })',
    replacement: '...(signal.aborted && { error })',
  },
];
