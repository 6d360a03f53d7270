/** `crosswalk completion`: what shells offer, as far as the shell is on this machine. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { COMMANDS, type CommandDeclaration, listOptions } from '../../../src/cli/commands.ts'
import { completionScript } from '../../../src/cli/completion.ts'

describe('completion of bash', () => {
  const offered = (line: string): readonly string[] => {
    const words = line.split(' ')
    const script = `${completionScript('bash')}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
_crosswalk; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout, stderr, status } = spawnSync('bash', ['--norc', '-u', '-c', script], { encoding: 'utf8' })
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
    return stdout.split('\n').filter((word) => word !== '')
  }
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['crosswalk li', ['lint']],
    ['crosswalk keys ', ['create', 'list', 'revoke', '--help']],
    ['crosswalk lint --format ', ['text', 'json', 'sarif', 'github']],
    ['crosswalk lint --strict --target x --format s', ['sarif']],
    ['crosswalk run a.json --stage ser', ['serialise']],
    // The shell offers files.
    ['crosswalk run a.json --input ', []],
    ['crosswalk lint end', []],
  ]
  for (const [line, expected] of cases) test(line, () => assert.deepEqual(offered(line), expected))
})

describe('completion of every shell', () => {
  for (const shell of COMMANDS.completion.arguments['<shell>'].choices) {
    test(`of ${shell} has every command and option`, () => {
      const script = completionScript(shell)
      for (const [path, command] of Object.entries<CommandDeclaration>(COMMANDS)) {
        for (const name of path.split(' ')) assert.ok(script.includes(name), name)
        for (const { flag } of listOptions(command)) assert.ok(script.includes(flag.slice(2)), flag)
      }
    })
    if (spawnSync(shell, ['-c', 'true']).status === 0) {
      test(`of ${shell} is a script of ${shell}`, () => {
        const { status, stderr } = spawnSync(shell, ['-n'], {
          input: completionScript(shell),
          encoding: 'utf8',
        })
        assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
      })
    }
  }

  test('quotes descriptions', () => {
    const odd = { x: { summary: `it's \\ $(a) "b": c` } }
    assert.match(completionScript('fish', odd), / -a x -d 'it\\'s \\\\ \$\(a\) "b": c'\n/)
    assert.match(completionScript('zsh', odd), /'x:it'\\''s \\\\ \$\(a\) "b": c'/)
  })
})
