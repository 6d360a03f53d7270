/** The arguments of the commands on the messages of a running service. What they do is loaded when they run. */
import type { Command } from 'commander'
import { run, withName, withTarget } from './deployment-commands.ts'
import type { MessagesArguments } from './run-messages.ts'
import type { ReplayArguments } from './run-replay.ts'

const ACCEPTS = 'a target of crosswalk.json, or the URL of the admin port'
const ID = /^[0-9a-f]{24}$/

/** Exit codes: 0; 1 if a replayed message failed; 3 if it could not be done. */
export function addMessageCommands(program: Command): void {
  withFilters(
    withTarget(program.command('messages').description('finds recorded messages of a running service'), ACCEPTS)
      .option('--limit <number>', 'the most messages; by default 50')
      .option('--follow', 'goes on with new messages, until Ctrl-C'),
  ).action(async (target: string | undefined, options: MessagesArguments) => {
    const { runMessages } = await import('./run-messages.ts')
    await run((process) => runMessages(withName(target, options), process))
  })
  withFilters(
    withTarget(
      program
        .command('replay')
        .description('runs recorded messages again: those with the ids, or all that the filters match'),
      ACCEPTS,
    )
      .argument('[id...]', 'ids of messages')
      .option('--yes', 'asks no question')
      .option('--max <number>', 'with filters: the most messages')
      .option('--concurrency <number>', 'with filters: messages at once; by default 1')
      .option('--per-second <number>', 'with filters: the most messages that start in a second'),
  ).action(async (target: string | undefined, ids: readonly string[], options: ReplayArguments) => {
    const { runReplay } = await import('./run-replay.ts')
    const isFirstId = target !== undefined && ID.test(target)
    const given = { ...options, ids: isFirstId ? [target, ...ids] : ids }
    await run((process) => runReplay(isFirstId ? given : withName(target, given), process))
  })
}

const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]

function withFilters(command: Command): Command {
  return command
    .option('--endpoint <name>', 'messages of this endpoint; may be given several times', collect)
    .option('--outcome <outcome>', 'done, partial, refused or failed; may be given several times', collect)
    .option('--code <code>', 'messages that failed with this code; may be given several times', collect)
    .option('--from <time>', 'messages since a time, such as -1h')
    .option('--to <time>', 'messages until a time')
    .option('--filter <name=value>', 'any filter of GET /messages; may be given several times', collect)
}
