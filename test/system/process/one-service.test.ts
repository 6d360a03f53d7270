/** One service works on a file: a second one would not see the changes of the first. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { linkSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { freshFolder, type Program, spawnService, startProgram } from '../../support/spawned-service.ts'

/** What a program that ends says on standard error; fails where it does not end with exit code 1. */
async function refusal({ output, ended }: Program, code = 1): Promise<string> {
  assert.deepEqual(await ended, { code, signal: null }, output.stdout)
  return output.stderr
}

const IN_USE = /^crosswalk: The database \S+ is in use by a running service; stop that one first, .*PostgreSQL.*\n$/

test('of several that start at once on a new file exactly one runs', async (test) => {
  const folder = freshFolder(test)
  const programs = Array.from({ length: 4 }, () => startProgram(folder))
  const running = new Set(programs)
  await new Promise<void>((resolve) => {
    for (const program of programs)
      program.ended.then(() => {
        running.delete(program)
        if (running.size <= 1) resolve()
      })
  })
  const [only] = running
  assert.ok(only)
  for (const program of programs) if (program !== only) assert.match(await refusal(program), IN_USE)
  while (!only.output.stdout.includes('messagePort')) await once(only.child.stdout as Readable, 'data')
  only.child.kill('SIGTERM')
  assert.deepEqual(await only.ended, { code: 0, signal: null })
})

describe('while a service runs on a file', { concurrency: true }, () => {
  test('a second one is refused with one line, by whatever name, and the first goes on', async (test) => {
    const folder = freshFolder(test)
    const first = await spawnService(folder, { env: { DATABASE_URL: 'sqlite:./data/one.db' } })
    mkdirSync(join(folder, 'other'))
    symlinkSync('../data/one.db', join(folder, 'other/link.db'))
    for (const url of ['sqlite:./data/one.db', `sqlite:${folder}/data/../data/one.db`, 'sqlite:./other/link.db'])
      assert.match(await refusal(startProgram(folder, { env: { DATABASE_URL: url } })), IN_USE)
    linkSync(join(folder, 'data/one.db'), join(folder, 'hard.db'))
    const hard = { DATABASE_URL: 'sqlite:./hard.db' }
    assert.match(await refusal(startProgram(folder, { env: hard })), IN_USE)
    // SQLite would keep a second log of the changes for this name, and the file would lose those of one of them.
    assert.match(await refusal(startProgram(folder, { env: hard, args: ['keys', 'list'] }), 3), IN_USE)
    rmSync(join(folder, 'data/one.db.lock'))
    assert.match(await refusal(startProgram(folder, { env: { DATABASE_URL: 'sqlite:./data/one.db' } })), IN_USE)
    assert.equal((await fetch(`${first.adminUrl}/health/ready`)).status, 200)
    first.child.kill('SIGTERM')
    await first.ended
    const second = await spawnService(folder, { env: { DATABASE_URL: 'sqlite:./data/one.db' } })
    second.child.kill('SIGKILL')
    await second.ended
    const third = await spawnService(folder, { env: hard })
    third.child.kill('SIGTERM')
    assert.deepEqual(await third.ended, { code: 0, signal: null })
  })

  for (const args of [
    ['migrate'],
    ['copy-store', '--from', 'sqlite:./data/crosswalk.db', '--to', 'postgres://u@h/d'],
  ]) {
    test(`${args[0]} is refused with one line`, async (test) => {
      const folder = freshFolder(test)
      const service = await spawnService(folder)
      assert.match(await refusal(startProgram(folder, { args }), 3), IN_USE)
      service.child.kill('SIGTERM')
      await service.ended
    })
  }
})

const nowhere = [
  { name: 'a folder in which nothing can be made', path: '/proc/x', expect: /ENOENT/ },
  { name: 'a device', path: '/dev/null', expect: /it is not a regular file/ },
]
describe('a file that cannot be', { concurrency: true }, () => {
  for (const { name, path, expect } of nowhere) {
    test(`is refused with one line: ${name}`, async (test) => {
      const folder = freshFolder(test)
      spawnSync('mkfifo', [join(folder, 'pipe')])
      const program = startProgram(folder, { env: { DATABASE_URL: `sqlite:${path}` } })
      const said = await refusal(program)
      assert.match(said, /^crosswalk: The database \S+ cannot be opened: .*DATABASE_URL\.\n$/)
      assert.match(said, expect)
    })
  }
})
