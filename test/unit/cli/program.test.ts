/** What holds for every command of the table. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { EXITS } from '../../../src/cli/command.ts'
import {
  COMMANDS,
  type CommandDeclaration,
  type CommandName,
  listArguments,
  listOptions,
} from '../../../src/cli/commands.ts'
import { type ProgramOptions, runProgram } from '../../../src/cli/program.ts'
import { runArguments, runCommand } from '../../support/cli/run-command.ts'

for (const [path, declaration] of Object.entries<CommandDeclaration>(COMMANDS)) {
  const name = path as CommandName
  const [all, options] = [listArguments(declaration), listOptions(declaration)]
  const needed = all.filter(({ shown }) => shown.startsWith('<'))
  const args = all.map(({ choices }) => choices?.[0] ?? 'x')
  const complete = options.flatMap(({ flag, isRequired }) => (isRequired ? [flag, 'x'] : []))

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
      const words = [declaration.summary, ...all.map(({ help }) => help), ...options.map(({ shown }) => shown)]
      for (const word of words) assert.ok(text.includes(word.replace(/\s+/g, ' ')), word)
    })

    test('refuses an option that it does not have', () =>
      refused(runCommand(name, [...args, ...complete, '--bogus']), /^error: unknown option '--bogus'\n/))

    test('refuses missing and further arguments, and wrong values of options', async () => {
      if (needed.length > 0) await refused(runCommand(name, complete), /^error: missing required argument/)
      if (all.at(-1)?.shown.includes('...') !== true) {
        await refused(runCommand(name, [...args, 'extra', ...complete]), /^error: too many arguments/)
      }
      for (const { flag, isRequired, choices, number } of options) {
        if (isRequired) {
          const without = complete.toSpliced(complete.indexOf(flag), 2)
          await refused(runCommand(name, [...args, ...without]), /^error: required option /)
        }
        if (choices === undefined && number === undefined) continue
        const wrong = [...args, ...complete, flag, 'bogus']
        await refused(runCommand(name, wrong), / is invalid\. (?:Allowed choices are|Give a) /)
      }
    })
  })
}

test('a command that does not exist is refused, with the one that was meant', async () => {
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['lnt'], /^crosswalk: There is no command "lnt"\. Did you mean "lint"\?\n$/],
    [['xyzzy', 'a'], /^crosswalk: There is no command "xyzzy"\. The commands: migrate, copy-store, keys, /],
    [['schema', 'tset'], /^error: there is no kind 'tset'\. Allowed choices are document, tests, project\.\n$/],
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

const silentOutput = { write: () => {} }
const surroundings: ProgramOptions = { env: {}, stdout: silentOutput, stderr: silentOutput, ask: undefined }

test('a start that fails without saying why is a defect of the program, whatever the system says', async () => {
  const defect = Object.assign(new Error('kill EPERM'), { syscall: 'kill' })
  const program = { version: '0.0.0', description: '', start: () => Promise.reject(defect) }
  await assert.rejects(runProgram([], program, surroundings), defect)
})

test('completion reads no settings: shells run it in any folder', async () => {
  const program = { version: '0.0.0', description: '', start: () => Promise.resolve() }
  const loadEnv = () => assert.fail('the settings were read')
  assert.equal(await runProgram(['completion', 'bash'], program, { ...surroundings, loadEnv }), 0)
})
