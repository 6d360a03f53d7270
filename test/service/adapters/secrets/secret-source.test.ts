import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { createSecretSource } from '../../../../src/adapters/secrets/secret-source.ts'
import { Failure } from '../../../../src/domain/failure.ts'

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

  const cases = [
    { name: 'CROSSWALK_SECRET_MISSING', message: /"\$\{env:CROSSWALK_SECRET_MISSING\}" is not set/ },
    { name: 'CROSSWALK_SECRET_EMPTY', message: /is not set/ },
    { name: 'ONE', message: /is not set/ },
    { name: 'ONE_MORE', message: /SECRETS_ALLOW does not name it/ },
    { name: 'HOME', message: /SECRETS_ALLOW does not name it/ },
    { name: 'xCROSSWALK_SECRET_A', message: /SECRETS_ALLOW does not name it/ },
    { name: 'crosswalk_secret_a', message: /SECRETS_ALLOW does not name it/ },
    { name: 'PATH', message: /SECRETS_ALLOW does not name it/ },
  ]
  for (const { name, message } of cases) {
    test(`${name} is unavailable`, (t) => {
      assert.throws(() => open(t).source.resolve(`a \${env:${name}}`), unavailable(message))
    })
  }
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

  const outside: { name: string; path: string; make?: (home: string) => void }[] = [
    { name: 'another folder', path: 'secret' },
    { name: 'a folder whose name starts alike', path: 'allowed-not/secret' },
    { name: 'a step up', path: 'allowed/../secret' },
    { name: 'a step up, further in', path: 'allowed/below/../../secret' },
    { name: 'a step on the spot', path: 'allowed/./key' },
    { name: 'the folder itself', path: 'allowed' },
    {
      name: 'a link to a file',
      path: 'allowed/link',
      make: (home) => symlinkSync(join(home, 'secret'), join(home, 'allowed/link')),
    },
    {
      name: 'a relative link',
      path: 'allowed/link',
      make: (home) => symlinkSync('../secret', join(home, 'allowed/link')),
    },
    {
      name: 'a link to a folder',
      path: 'allowed/up/secret',
      make: (home) => symlinkSync('..', join(home, 'allowed/up')),
    },
    {
      name: 'a link to a link',
      path: 'allowed/link',
      make: (home) => {
        symlinkSync(join(home, 'secret'), join(home, 'allowed-not/second'))
        symlinkSync('../allowed-not/second', join(home, 'allowed/link'))
      },
    },
  ]
  for (const { name, path, make } of outside) {
    test(`is not given from outside: ${name}`, (t) => {
      const { home, source } = open(t)
      for (const place of ['secret', 'allowed-not/secret', 'allowed/key']) writeFileSync(join(home, place), 's3cret')
      make?.(home)
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

  const unreadable: { name: string; make: (path: string) => void; message: RegExp }[] = [
    { name: 'nothing', make: () => {}, message: /does not exist/ },
    { name: 'an empty file', make: (path) => writeFileSync(path, '\n'), message: /is empty/ },
    { name: 'a folder', make: (path) => mkdirSync(path), message: /is not a file/ },
    { name: 'a pipe', make: (path) => void spawnSync('mkfifo', [path]), message: /is not a file/ },
    { name: 'too much', make: (path) => writeFileSync(path, 'x'.repeat(70_000)), message: /more than 65536 bytes/ },
    { name: 'no UTF-8', make: (path) => writeFileSync(path, Buffer.of(0xff, 0xfe)), message: /cannot be read/ },
    { name: 'a link to itself', make: (path) => symlinkSync(path, path), message: /cannot be read/ },
  ]
  for (const { name, make, message } of unreadable) {
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
