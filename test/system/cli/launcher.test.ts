import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { FLAGS } from '../../../bin/entry.js'
import { spawnService } from '../../support/spawned-service.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const nodeLauncher = join(root, 'bin/node.js')

/** The machine's own Node.js, which may be too old for the service, and the one that runs this test. */
const HOSTS = ['node', process.execPath]

/** The runner makes its children answer in its own format; programs started here are not its children. */
const env = { ...process.env }
delete env.NODE_TEST_CONTEXT
delete env.FORCE_COLOR

type Ended = Readonly<{ code: number | null; signal: string | null; stdout: string; stderr: string }>

/** Starts a program in a session of its own, so that the terminal that runs the tests takes no part. */
function start(command: string, args: readonly string[]): { child: ChildProcess; ended: Promise<Ended> } {
  const child = spawn(command, args, { env, detached: true, stdio: 'pipe', timeout: 120_000, killSignal: 'SIGKILL' })
  const texts = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk) => (texts.stdout += chunk))
  child.stderr.on('data', (chunk) => (texts.stderr += chunk))
  return { child, ended: once(child, 'close').then(([code, signal]) => ({ code, signal, ...texts })) }
}

function run(command: string, args: readonly string[], input = ''): Promise<Ended> {
  const { child, ended } = start(command, args)
  child.stdin?.end(input)
  return ended
}

/** Resolves when the program has written `ready`, or has ended. */
function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    let seen = ''
    child.stdout?.on('data', (chunk) => {
      seen += chunk
      if (seen.includes('ready')) resolve()
    })
    child.once('close', () => resolve())
  })
}

const temporary = mkdtempSync(join(tmpdir(), 'crosswalk-launcher-'))
after(() => rmSync(temporary, { recursive: true }))

/** A copy of the launcher with an entry that prints its arguments. */
function copyOfLauncher(name: string): string {
  const directory = join(temporary, name)
  cpSync(join(root, 'bin'), join(directory, 'bin'), { recursive: true })
  mkdirSync(join(directory, 'src'))
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }')
  writeFileSync(
    join(directory, 'src/main.ts'),
    'const shown: readonly string[] = [process.versions.node, ...process.argv.slice(2)]\nconsole.log(JSON.stringify(shown))\n',
  )
  return directory
}

/** Runs a launcher on a Node.js that takes itself for an old one. */
function runOnOldNode(path: string, ...args: readonly string[]): Promise<Ended> {
  const program = `
    Object.defineProperty(process.versions, 'node', { value: '18.0.0' })
    process.argv.splice(1, 0, ${JSON.stringify(path)})
    import(${JSON.stringify(path)})`
  return run('node', ['-e', program, '--', ...args])
}

/** Why there is no terminal to test with; false where there is one. */
const noTerminal =
  process.platform === 'linux' && spawnSync('script', ['--version']).status === 0
    ? false
    : 'no `script` of util-linux, the one way to have a terminal here'

for (const host of HOSTS) {
  describe(host === 'node' ? "on the machine's own Node.js" : 'on a Node.js that is new enough', {
    concurrency: 4,
  }, () => {
    test('runs a Node.js that is new enough', async () => {
      const { stdout } = await run(host, [nodeLauncher, '-p', 'process.versions.node'])
      assert.ok(Number.parseInt(stdout, 10) >= 24, stdout)
    })

    test('passes every argument as it is', async () => {
      const args = ['plain', 'two words', '', '--flag=$HOME', '"quoted"', 'ä 漢', '--']
      const { stdout } = await run(host, [nodeLauncher, '-p', 'JSON.stringify(process.argv.slice(1))', '--', ...args])
      assert.deepEqual(JSON.parse(stdout), args)
    })

    test('passes standard input, output and error', async () => {
      const program = "process.stdin.pipe(process.stdout); console.error('to error')"
      const { stdout, stderr } = await run(host, [nodeLauncher, '-e', program], 'through')
      assert.deepEqual([stdout, stderr], ['through', 'to error\n'])
    })

    for (const code of [0, 3]) {
      test(`ends with the exit code ${code} of the program`, async () => {
        const ended = await run(host, [nodeLauncher, '-e', `process.exit(${code})`])
        assert.deepEqual([ended.code, ended.signal], [code, null])
      })
    }

    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      test(`ends by ${signal} where the program did`, async () => {
        const ended = await run(host, [
          nodeLauncher,
          '-e',
          `process.kill(process.pid, '${signal}'); setInterval(() => {}, 1000)`,
        ])
        assert.deepEqual([ended.code, ended.signal], [null, signal])
      })
    }

    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      test(`passes ${signal} to the program once, and waits for its end`, async () => {
        const program = `
          let times = 0
          process.on('${signal}', () => { times++; setTimeout(() => { console.log('times', times); process.exit(4) }, 100) })
          setInterval(() => {}, 1000)
          console.log('ready')`
        const { child, ended } = start(host, [nodeLauncher, '-e', program])
        await ready(child)
        child.kill(signal)
        assert.deepEqual(await ended, { code: 4, signal: null, stdout: 'ready\ntimes 1\n', stderr: '' })
      })
    }

    // A terminal gives Ctrl-C to launcher and program both. `exec`, because a shell that waits in between ends by the signal
    // itself, and its exit code would be the one that is seen.
    test('a Ctrl-C in a terminal reaches the program once', { skip: noTerminal }, async () => {
      const file = join(temporary, 'interrupted.mjs')
      writeFileSync(
        file,
        `let times = 0
        process.on('SIGINT', () => { times++; setTimeout(() => { console.log('times', String(times)); process.exit(4) }, 300) })
        setInterval(() => {}, 1000)
        console.log('ready')`,
      )
      const { child, ended } = start('script', ['-qec', `exec "${host}" "${nodeLauncher}" "${file}"`, '/dev/null'])
      await ready(child)
      child.stdin?.write('\u0003')
      const { code, stdout } = await ended
      assert.match(stdout, /times 1\r?\n/)
      assert.equal(code, 4)
    })
  })
}

describe('the service', () => {
  test('is src/main.ts beside the launcher, with all arguments', async () => {
    const directory = copyOfLauncher('service')
    symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
    const { stdout, stderr } = await run('node', [join(directory, 'bin/crosswalk.js'), '--help', 'a b'])
    const [version, ...args] = JSON.parse(stdout || '[]') as string[]
    assert.deepEqual([args, stderr], [['--help', 'a b'], ''])
    assert.ok(Number.parseInt(version ?? '', 10) >= 24, version)
  })
})

describe('the bundle of the service', () => {
  const directory = join(temporary, 'bundled')
  const names = async () => {
    const { stdout } = await run('node', [join(directory, 'bin/crosswalk.js')])
    return stdout.trim()
  }

  test('is started where no file of the source is newer', async () => {
    copyOfLauncher('bundled')
    symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
    writeFileSync(join(directory, 'src/main.ts'), "console.log('source')")
    mkdirSync(join(directory, 'src/deep'))
    writeFileSync(join(directory, 'src/deep/part.ts'), '')
    const at = (name: string, seconds: number) => utimesSync(join(directory, name), seconds, seconds)
    for (const name of ['src/main.ts', 'src/deep/part.ts', 'src/deep']) at(name, 1_000)
    assert.equal(await names(), 'source')

    mkdirSync(join(directory, 'dist'))
    writeFileSync(join(directory, 'dist/main.js'), "console.log('bundle')")
    at('dist/main.js', 2_000)
    assert.equal(await names(), 'bundle')
    at('src/deep/part.ts', 3_000)
    assert.equal(await names(), 'source')
    at('dist/main.js', 3_000)
    assert.equal(await names(), 'bundle')
    // A file that was removed leaves its folder newer.
    at('src/deep', 4_000)
    assert.equal(await names(), 'source')
  })

  test('does what the source does: console, registration, message, end', async () => {
    const home = join(temporary, 'home')
    mkdirSync(home)
    for (const name of ['console', 'node_modules', 'package.json']) symlinkSync(join(root, name), join(home, name))
    const made = await run(process.execPath, [join(root, 'scripts/bundle.ts'), join(home, 'dist')])
    assert.deepEqual([made.code, made.stderr], [0, ''])
    const probe = join(temporary, 'probe.cjs')
    writeFileSync(probe, `process.on('exit', () => console.log('Loaded: ' + process.moduleLoadList))`)
    const command = [process.execPath, '--require', probe, join(home, 'dist/main.js')] as const
    const service = await spawnService(temporary, { command })
    const page = await fetch(service.adminUrl)
    assert.match(await page.text(), /<title>/)
    const transformation = { input: 'XML', output: 'JSON' }
    const document = { name: 'a', endpoint: { pattern: '/a' }, transformation, inputTransforms: { n: '1 + 1' } }
    const body = JSON.stringify({ ...document, inputMapping: { 'requestBody.b': 'b', 'transforms.n': 'n' } })
    const headers = { 'content-type': 'application/json' }
    const registered = await fetch(`${service.url}/endpoints`, { method: 'POST', headers, body })
    assert.equal(registered.status, 201)
    const answer = await fetch(`${service.url}/a`, {
      method: 'POST',
      headers: { 'content-type': 'text/xml' },
      body: '<a><b>c</b></a>',
    })
    assert.deepEqual(await answer.json(), { b: 'c', n: 2 })
    service.child.kill('SIGTERM')
    assert.deepEqual(await service.ended, { code: 0, signal: null })
    const [, loaded = ''] = /^Loaded: (.*)$/m.exec(service.output.stdout) ?? []
    // Each takes memory, node:tls 3 MB, in every service.
    assert.deepEqual(
      loaded.split(',').filter((name) => /^NativeModule (?:http|http2|https|tls|zlib)$/.test(name)),
      ['NativeModule http'],
    )
  })

  test('has compiled code that V8 takes with the flags of the launcher, and does without', async () => {
    const dist = join(temporary, 'home/dist')
    const program = `
      const read = (name, encoding) => require('node:fs').readFileSync(${JSON.stringify(dist)} + name, encoding)
      const options = { cachedData: read('/service-${process.arch}.code') }
      console.log(new (require('node:vm').Script)(read('/service.js', 'latin1'), options).cachedDataRejected)`
    const { stdout } = await run(process.execPath, [...FLAGS, '-e', program])
    assert.equal(stdout, 'false\n')
    const version = { code: 0, signal: null, stdout: '0.1.0\n', stderr: '' }
    for (const flags of [[], ['--no-opt'], ['--max-old-space-size=200']]) {
      assert.deepEqual(await run(process.execPath, [...flags, join(dist, 'main.js'), '--version']), version)
    }
    writeFileSync(join(dist, `service-${process.arch}.code`), 'something else')
    assert.deepEqual(await run(process.execPath, [...FLAGS, join(dist, 'main.js'), '--version']), version)
    rmSync(join(dist, `service-${process.arch}.code`))
    assert.deepEqual(await run(process.execPath, [...FLAGS, join(dist, 'main.js'), '--version']), version)
  })
})

describe('on a Node.js that is too old', () => {
  const packageName = `node-${process.platform}-${process.arch}`

  test('takes the one that npm installed for this platform', async () => {
    const directory = copyOfLauncher('pinned')
    const bin = join(directory, 'node_modules', packageName, 'bin')
    mkdirSync(bin, { recursive: true })
    writeFileSync(join(directory, 'node_modules', packageName, 'package.json'), JSON.stringify({ name: packageName }))
    writeFileSync(join(bin, 'node'), '#!/bin/sh\necho pinned "$@"\nexit 6\n')
    chmodSync(join(bin, 'node'), 0o755)
    assert.deepEqual(await runOnOldNode(join(directory, 'bin/node.js'), 'a', 'b'), {
      code: 6,
      signal: null,
      stdout: 'pinned a b\n',
      stderr: '',
    })

    chmodSync(join(bin, 'node'), 0o644)
    const { code, stderr } = await runOnOldNode(join(directory, 'bin/node.js'))
    assert.equal(code, 1)
    assert.match(stderr, /^\S+\/bin\/node cannot be started \(EACCES\)\. Install Node\.js 24 or newer .*\n$/)
  })

  test('says in one sentence what to install where there is none', async () => {
    const { code, stdout, stderr } = await runOnOldNode(join(copyOfLauncher('none'), 'bin/crosswalk.js'))
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /^Crosswalk needs Node\.js 24 or newer; this is 18\.0\.0, .* Install Node\.js 24 .*\n$/)
  })
})
