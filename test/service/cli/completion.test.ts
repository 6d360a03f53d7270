/** `crosswalk completion`: what shells offer, as far as the shell is on this machine. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { before, describe, test } from 'node:test'
import { completionScript, type Shell } from '../../../src/cli/completion/completion-scripts.ts'
import { type DescribedCommand, describeCommand, withAllBelow } from '../../../src/cli/completion/described-commands.ts'
import { createProgram } from '../../../src/cli/program.ts'

const program = describeCommand(createProgram({ version: '0.0.0', description: '', start: async () => undefined }))

describe('completion of bash', () => {
  const offered = (line: string): readonly string[] => {
    const words = line.split(' ')
    const script = `${completionScript(program, 'bash')}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
_crosswalk; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout, stderr, status } = spawnSync('bash', ['--norc', '-u', '-c', script], { encoding: 'utf8' })
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
    return stdout.split('\n').filter((word) => word !== '')
  }
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['crosswalk li', ['lint']],
    ['crosswalk --v', ['--version']],
    ['crosswalk keys ', ['create', 'list', 'revoke', '--help']],
    ['crosswalk keys create --n', ['--name']],
    ['crosswalk lint --f', ['--format']],
    ['crosswalk lint --format ', ['text', 'json', 'sarif', 'github']],
    ['crosswalk lint --strict --target x --format s', ['sarif']],
    ['crosswalk run a.json --stage ser', ['serialise']],
    ['crosswalk completion z', ['zsh']],
    // The shell offers files.
    ['crosswalk run a.json --input ', []],
    ['crosswalk lint end', []],
  ]
  for (const [line, expected] of cases) test(line, () => assert.deepEqual(offered(line), expected))
})

describe('completion of every shell', () => {
  let all: readonly DescribedCommand[]
  before(() => {
    all = withAllBelow(program)
  })
  for (const shell of ['bash', 'zsh', 'fish'] satisfies readonly Shell[]) {
    test(`of ${shell} has every command and option`, () => {
      const script = completionScript(program, shell)
      for (const { name, options } of all.slice(1)) {
        assert.ok(script.includes(name), name)
        for (const { flag } of options) assert.ok(script.includes(flag.replace(/^--/, '')), flag)
      }
    })
    if (spawnSync(shell, ['-c', 'true']).status === 0) {
      test(`of ${shell} is a script of ${shell}`, () => {
        const { status, stderr } = spawnSync(shell, ['-n'], {
          input: completionScript(program, shell),
          encoding: 'utf8',
        })
        assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
      })
    }
  }

  test('quotes descriptions', () => {
    const odd = {
      ...program,
      commands: [{ ...program, path: 'x', name: 'x', description: `it's \\ $(a) "b": c`, commands: [] }],
    }
    assert.match(completionScript(odd, 'fish'), / -a x -d 'it\\'s \\\\ \$\(a\) "b": c'\n/)
    assert.match(completionScript(odd, 'zsh'), /'x:it'\\''s \\\\ \$\(a\) "b": c'/)
  })
})
