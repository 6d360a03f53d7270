/** What holds for the arguments of every command. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Command } from 'commander'
import { withName } from '../../../src/cli/deployment/deployment-commands.ts'
import { createProgram } from '../../../src/cli/program.ts'

const leavesOf = (command: Command): readonly Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf)

test('a target that is named twice, differently, is refused', () => {
  assert.deepEqual(withName('a', { target: 'a' }), { target: 'a' })
  assert.throws(() => withName('a', { target: 'b' }), { message: 'Two targets are named, a and --target b; name one.' })
})

test('an argument more than a command takes is refused', async () => {
  const program = createProgram({ version: '', description: '', start: async () => undefined })
  const accepted: string[] = []
  for (const command of leavesOf(program)) {
    const own = command.registeredArguments
    if (own.at(-1)?.variadic) continue
    for (const option of command.options.filter(({ mandatory }) => mandatory)) {
      command.setOptionValue(option.attributeName(), 'x')
    }
    command
      .configureOutput({ writeErr: () => undefined })
      .exitOverride()
      .action(() => void accepted.push(command.name()))
    const args = [...own.map(({ argChoices }) => argChoices?.[0] ?? 'x'), 'extra']
    await command
      .parseAsync(args, { from: 'user' })
      .catch(({ code }) => assert.equal(code, 'commander.excessArguments'))
  }
  assert.deepEqual(accepted, [])
})
