/** What holds for every command of the table. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { EXITS } from '../../../src/cli/command.ts'
import { COMMANDS, type CommandDeclaration, type CommandName, flagOf } from '../../../src/cli/commands.ts'
import { runArguments, runCommand } from '../../support/cli/run-command.ts'

for (const [path, declaration] of Object.entries<CommandDeclaration>(COMMANDS)) {
  const { arguments: all = {}, options = {}, summary } = declaration
  const name = path as CommandName
  const required = Object.entries(options).flatMap(([option, { isRequired }]) => (isRequired ? [option] : []))
  const complete = Object.fromEntries(required.map((option) => [option, 'x']))
  const needed = Object.values(all).filter(({ isOptional }) => !isOptional)
  const args = Object.values(all).map(({ choices }) => choices?.[0] ?? 'x')

  describe(`crosswalk ${path}`, () => {
    const refused = async (running: ReturnType<typeof runCommand>, says: RegExp) => {
      const { code, stdout, stderr } = await running
      assert.deepEqual([code, stdout], [EXITS.failed.code, ''])
      assert.match(stderr, says)
    }

    test('--help has its summary, arguments and options', async () => {
      const { code, stdout, stderr } = await runCommand(name, ['--help'])
      assert.deepEqual([code, stderr], [0, ''])
      const text = stdout.replace(/\s+/g, ' ')
      const words = [summary, ...Object.values(all).map(({ help }) => help), ...Object.keys(options).map(flagOf)]
      for (const word of words) assert.ok(text.includes(word.replace(/\s+/g, ' ')), word)
    })

    test('refuses an option that it does not have', () =>
      refused(runCommand(name, [...args, '--bogus'], complete), /^error: unknown option '--bogus'\n/))

    test('refuses an argument too many', { skip: Object.values(all).at(-1)?.isMany }, () =>
      refused(runCommand(name, [...args, 'extra'], complete), /^error: too many arguments/),
    )

    test('needs its arguments', { skip: needed.length === 0 }, () =>
      refused(runCommand(name, [], complete), /^error: missing required argument/),
    )

    for (const [option, { choices, number }] of Object.entries(options)) {
      const isMissing = required.includes(option)
      if (isMissing) {
        const { [option]: _, ...others } = complete
        test(`needs ${flagOf(option)}`, () => refused(runCommand(name, args, others), /^error: required option /))
      }
      if (choices === undefined && number === undefined) continue
      test(`refuses another value of ${flagOf(option)}`, () =>
        refused(
          runCommand(name, args, { ...complete, [option]: '-1x' }),
          / is invalid\. (?:Allowed choices are|Give a) /,
        ))
    }
  })
}

test('a command that does not exist is refused, with the one that was meant', async () => {
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['lnt'], /^crosswalk: There is no command "lnt"\. Did you mean "lint"\?\n$/],
    [['xyzzy', 'a'], /^crosswalk: There is no command "xyzzy"\. The commands: migrate, copy-store, keys, /],
    [['keys', 'x'], /^error: unknown command 'x'\n/],
  ]
  for (const [args, says] of cases) {
    const { code, stderr } = await runArguments(args)
    assert.equal(code, 3)
    assert.match(stderr, says)
  }
})

test('a target that is named twice, differently, is refused', async () => {
  const { code, stderr } = await runCommand('messages', ['a'], { target: 'b' })
  assert.deepEqual([code, stderr], [3, 'crosswalk: Two targets are named, a and --target b; name one.\n'])
})
