import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { createSecretSource } from '../../../src/app/secret-source.ts'
import { Failure } from '../../../src/core/failure.ts'

/** A folder that is allowed, beside one that is not. */
function open(t: TestContext) {
  const home = mkdtempSync(join(tmpdir(), 'crosswalk-secrets-'))
  t.after(() => rmSync(home, { recursive: true }))
  const folder = join(home, 'allowed')
  mkdirSync(join(folder, 'below'), { recursive: true })
  mkdirSync(join(home, 'allowed-not'))
  const env = { CROSSWALK_SECRET_A: 'value a', CROSSWALK_SECRET_EMPTY: '', HOME: '/root', xCROSSWALK_SECRET_A: 'other' }
  const source = createSecretSource({ names: ['CROSSWALK_SECRET_*', 'ONE'], folders: [folder] }, env)
  return { home, folder, source }
}

const unavailable = (message: RegExp) => (error: unknown) =>
  error instanceof Failure && error.code === 'SECRET_UNAVAILABLE' && error.status === 503 && message.test(error.message)

describe('of the environment', () => {
  test('a variable that is allowed has its value, within a text too', (t) => {
    const { source } = open(t)
    assert.equal(source.resolve('${env:CROSSWALK_SECRET_A}'), 'value a')
    assert.equal(source.resolve('<${env:CROSSWALK_SECRET_A}> $${env:HOME} ${no}'), '<value a> ${env:HOME} ${no}')
    assert.equal(source.resolve('no reference'), 'no reference')
  })

  test('another one is unavailable', (t) => {
    const { source } = open(t)
    assert.throws(
      () => source.resolve('${env:CROSSWALK_SECRET_MISSING}'),
      unavailable(/"\$\{env:CROSSWALK_SECRET_MISSING\}" is not set/),
    )
    for (const name of ['CROSSWALK_SECRET_EMPTY', 'ONE'])
      assert.throws(() => source.resolve(`a \${env:${name}}`), unavailable(/is not set/))
    for (const name of ['ONE_MORE', 'HOME', 'xCROSSWALK_SECRET_A', 'crosswalk_secret_a', 'PATH'])
      assert.throws(() => source.resolve(`a \${env:${name}}`), unavailable(/SECRETS_ALLOW does not name it/))
  })
})

describe('in a file', () => {
  test('is its text without the line break at its end', (t) => {
    const { folder, source } = open(t)
    for (const [content, value] of [
      ['plain', 'plain'],
      ['a b\n', 'a b'],
      ['x\r\n', 'x'],
      ['é\n\n', 'é'],
      ['a\nb', 'a\nb'],
    ] as const) {
      writeFileSync(join(folder, 'below/key'), content)
      assert.equal(source.resolve(`\${file:${folder}/below/key}`), value)
    }
  })

  test('is read again when it changes, in the same length too, and when another takes its place', (t) => {
    const { folder, source } = open(t)
    const path = join(folder, 'key')
    const past = new Date(2020, 0)
    for (const [index, content] of ['one', 'two', 'six'].entries()) {
      if (index < 2) writeFileSync(path, content)
      else {
        writeFileSync(`${path}.new`, content)
        renameSync(`${path}.new`, path)
      }
      utimesSync(path, past, past)
      assert.equal(source.resolve(`\${file:${path}}`), content)
    }
    rmSync(path)
    assert.throws(() => source.resolve(`\${file:${path}}`), unavailable(/does not exist/))
    writeFileSync(path, 'again')
    assert.equal(source.resolve(`\${file:${path}}`), 'again')
  })

  test('may be reached by links within the folder, as Kubernetes mounts secrets', (t) => {
    const { folder, source } = open(t)
    mkdirSync(join(folder, '..2026_1'))
    writeFileSync(join(folder, '..2026_1/key'), 'mounted')
    symlinkSync('..2026_1', join(folder, '..data'))
    symlinkSync('..data/key', join(folder, 'key'))
    assert.equal(source.resolve(`\${file:${folder}/key}`), 'mounted')

    mkdirSync(join(folder, '..2026_2'))
    writeFileSync(join(folder, '..2026_2/key'), 'rotated')
    symlinkSync('..2026_2', join(folder, '..data_tmp'))
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'))
    assert.equal(source.resolve(`\${file:${folder}/key}`), 'rotated')
  })

  const outside: readonly (readonly [name: string, path: string, target?: string])[] = [
    ['another folder', 'secret'],
    ['a folder whose name starts alike', 'allowed-not/secret'],
    ['a step up', 'allowed/../secret'],
    ['a step up, further in', 'allowed/below/../../secret'],
    ['a step on the spot', 'allowed/./key'],
    ['the folder itself', 'allowed'],
    ['a link to a file', 'allowed/link', 'HOME/secret'],
    ['a relative link', 'allowed/link', '../secret'],
    ['a link to a folder', 'allowed/link/secret', '../allowed-not'],
    ['a link to a link', 'allowed/link', '../allowed-not/second'],
  ]
  for (const [name, path, target] of outside) {
    test(`is not given from outside: ${name}`, (t) => {
      const { home, source } = open(t)
      for (const place of ['secret', 'allowed-not/secret', 'allowed/key']) writeFileSync(join(home, place), 's3cret')
      symlinkSync(join(home, 'secret'), join(home, 'allowed-not/second'))
      if (target !== undefined) symlinkSync(target.replace('HOME', home), join(home, 'allowed/link'))
      assert.throws(() => source.resolve(`\${file:${home}/${path}}`), unavailable(/SECRETS_ALLOW does not name it/))
    })
  }

  test('is not given once its link leads out, though it was before', (t) => {
    const { home, folder, source } = open(t)
    writeFileSync(join(home, 'secret'), 's3cret')
    writeFileSync(join(folder, 'key'), 'fine')
    assert.equal(source.resolve(`\${file:${folder}/key}`), 'fine')
    rmSync(join(folder, 'key'))
    symlinkSync('../secret', join(folder, 'key'))
    assert.throws(() => source.resolve(`\${file:${folder}/key}`), unavailable(/does not name it/))
  })

  const unreadable: readonly (readonly [name: string, make: (path: string) => unknown, message: RegExp])[] = [
    ['nothing', () => undefined, /does not exist/],
    ['an empty file', (path) => writeFileSync(path, '\n'), /is empty/],
    ['a folder', (path) => mkdirSync(path), /is not a file/],
    ['a pipe', (path) => spawnSync('mkfifo', [path]), /is not a file/],
    ['too much', (path) => writeFileSync(path, 'x'.repeat(70_000)), /more than 65536 bytes/],
    ['no UTF-8', (path) => writeFileSync(path, Buffer.of(0xff, 0xfe)), /cannot be read/],
    ['a link to itself', (path) => symlinkSync(path, path), /cannot be read/],
  ]
  for (const [name, make, message] of unreadable) {
    test(`is unavailable if its path has ${name}`, (t) => {
      const { folder, source } = open(t)
      make(join(folder, 'key'))
      assert.throws(() => source.resolve(`\${file:${folder}/key}`), unavailable(message))
    })
  }
})

test('no secret is available if none is allowed', () => {
  const source = createSecretSource({ names: [], folders: [] }, { A: '1' })
  for (const reference of ['${env:A}', '${file:/etc/hostname}'])
    assert.throws(() => source.resolve(reference), unavailable(/SECRETS_ALLOW/))
})
