/**
 * The package that `npm pack` makes has what runs and its documentation, and works where it is installed. The long form installs it
 * with npm; the short one links what npm would install, since that needs no registry.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, normalize } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { entry } from '../../../bin/entry.js'
import { CONSOLE_MISSING } from '../../../src/api/console-files.ts'
import { describeVocabulary } from '../../../src/document/vocabulary/vocabulary.ts'
import { linksOf } from '../../support/docs/page.ts'
import { LONG } from '../../support/form.ts'
import { json } from '../../support/service.ts'
import { spawnService } from '../../support/spawned-service.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** The machine's own Node.js starts npm, and installed commands. */
function run(folder: string, program: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: 'utf8', timeout: 300_000 })
  assert.equal(status, 0, `${program} ${args.join(' ')}: ${stderr}`)
  return stdout
}

/** The parts of the name of a package: `@scope/name` has two. */
const installed = (modules: string): readonly string[] =>
  readdirSync(modules)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) =>
      name.startsWith('@') ? readdirSync(join(modules, name)).map((own) => `${name}/${own}`) : [name],
    )

type Manifest = Readonly<Record<'dependencies' | 'optionalDependencies' | 'scripts', Record<string, string>>>

function link(folder: string, tarball: string): void {
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, '.bin'), { recursive: true })
  run(modules, 'tar', 'xzf', tarball)
  run(modules, 'mv', 'package', 'crosswalk')
  symlinkSync('../crosswalk/bin/crosswalk.js', join(modules, '.bin/crosswalk'))
  const { dependencies, optionalDependencies }: Manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const wanted = new Set(Object.keys({ ...dependencies, ...optionalDependencies }))
  for (const name of installed(join(root, 'node_modules')).filter((one) => wanted.has(one))) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
}

describe('the package', () => {
  const home = mkdtempSync(join(tmpdir(), 'crosswalk-package-'))
  let files: readonly string[]
  before(() => {
    // The test runs make the bundle and the console first; a file that is run alone may find none.
    const isBuilt = basename(dirname(entry())) === 'dist' && existsSync(join(root, 'console/built'))
    const scripts = isBuilt ? ['--ignore-scripts'] : []
    const [packed] = JSON.parse(run(root, 'npm', 'pack', '--json', '--silent', ...scripts, '--pack-destination', home))
    files = packed.files.map(({ path }: { path: string }) => path)
    const tarball = join(home, packed.filename)
    writeFileSync(join(home, 'package.json'), '{ "private": true }')
    if (LONG) run(home, 'npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', tarball)
    else link(home, tarball)
  })
  after(() => rmSync(home, { recursive: true, force: true }))

  test('has what runs, its documentation, and nothing else', () => {
    const isExpected = (path: string) =>
      /^(?:docs|samples|deploy)\/(?:[\w-]+\/)*[\w.-]+\.(?:md|png|json|xml|hl7|conf|yaml)$/.test(path) ||
      /^(?:LICENSE|package\.json|(?:README|CHANGELOG|CONTRIBUTING|bench\/EXPERIMENTS)\.md|docker-compose\.yml|bin\/(?:crosswalk|entry|launch)\.js|bin\/package\.json|console\/built\/(?:index\.html|manifest\.json|sources\.json|(?:assets\/[\w-]+\.(?:js|css|svg)|docs\/(?:decisions\/)?[\w-]+\.(?:html|css|json))(?:\.br|\.gz)?))$/.test(
        path,
      ) ||
      /^dist\/(?:(?:main|service|message-worker|table-worker|isolated-process)\.js|service-\w+\.code|fhir-r4\.json|package\.json)$/.test(
        path,
      )
    assert.deepEqual(
      files.filter((path) => !isExpected(path)),
      [],
    )
    for (const path of [
      'bin/crosswalk.js',
      'dist/main.js',
      'dist/service.js',
      'dist/fhir-r4.json',
      'console/built/index.html',
    ]) {
      assert.ok(files.includes(path), path)
    }
  })

  test('has each file that its documentation links to', () => {
    const pages = files.filter((path) => path.endsWith('.md'))
    assert.ok(pages.includes('README.md'))
    const dead = pages.flatMap((page) =>
      linksOf(readFileSync(join(root, page), 'utf8'))
        .filter((link) => !link.startsWith('#'))
        .map((link) => normalize(join(dirname(page), link.replace(/#.*$/, ''))))
        .filter((path) => !files.some((file) => file === path || file.startsWith(`${path}/`)) && !pages.includes(path))
        .map((path) => `${page}: ${path}`),
    )
    assert.deepEqual(dead, [])
  })

  // npm asks its user to approve these.
  test('has no script that an install runs', () => {
    const { scripts }: Manifest = JSON.parse(readFileSync(join(home, 'node_modules/crosswalk/package.json'), 'utf8'))
    const asked = ['preinstall', 'install', 'postinstall', 'prepare'].filter((name) => name in scripts)
    assert.deepEqual(asked, [])
  })

  test('answers its commands', async () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    assert.equal(run(home, 'npx', '--offline', 'crosswalk', '--version'), `${version}\n`)
    assert.equal(run(home, 'npx', '--offline', 'crosswalk', 'new', 'Orders'), 'orders.json\norders.tests.json\n')
    run(home, 'npx', '--offline', 'crosswalk', 'lint', '--strict', 'orders.json')
    writeFileSync(join(home, 'input.json'), '{ "id": "18" }')
    const answer = run(home, 'npx', '--offline', 'crosswalk', 'run', 'orders.json', '--input', 'input.json')
    assert.equal(answer, '{"id":"18"}\n')
  })

  for (const isolation of ['none', 'process']) {
    test(`is a service, with ISOLATION=${isolation}`, async () => {
      const command = ['node', join(home, 'node_modules/.bin/crosswalk')] as const
      const env = { ISOLATION: isolation, DATABASE_URL: `sqlite:./${isolation}.db` }
      const service = await spawnService(home, { command, env })
      const registered = await fetch(
        `${service.url}/endpoints`,
        json('POST', {
          name: 'Orders',
          endpoint: { pattern: '/orders' },
          transformation: { input: 'JSON', output: 'JSON' },
          inputTransforms: { twice: 'requestBody.n * 2' },
          inputMapping: { 'transforms.twice': 'twice' },
        }),
      )
      assert.equal(registered.status, 201, await registered.text())
      const answer = await fetch(`${service.url}/orders`, json('POST', { n: 4 }))
      assert.deepEqual(await answer.json(), { twice: 8 })
      // Some of it is read from the code, which is bundled here.
      const vocabulary = await fetch(`${service.url}/endpoints/vocabulary`)
      assert.deepEqual(await vocabulary.json(), JSON.parse(JSON.stringify(describeVocabulary())))
      const console = await fetch(`${service.adminUrl}/`)
      assert.match(await console.text(), /<html/)
      service.child.kill('SIGTERM')
      assert.deepEqual(await service.ended, { code: 0, signal: null })
    })
  }

  // As after an install without dev dependencies.
  test('says in its log and at /console/ how to get a console that is not built, and serves everything else', async () => {
    const built = join(home, 'node_modules/crosswalk/console/built')
    renameSync(built, `${built}.away`)
    const command = ['node', join(home, 'node_modules/.bin/crosswalk')] as const
    const service = await spawnService(home, { command, env: { DATABASE_URL: 'sqlite:./bare.db', WORKERS: '2' } })
    for (const path of ['/', '/console/messages', '/console/assets/index.js']) {
      const answer = await fetch(`${service.adminUrl}${path}`)
      assert.equal(answer.status, 404)
      const { error } = (await answer.json()) as { error: string }
      assert.equal(error, CONSOLE_MISSING)
    }
    assert.equal((await fetch(`${service.adminUrl}/health/ready`)).status, 200)
    service.child.kill('SIGTERM')
    assert.deepEqual(await service.ended, { code: 0, signal: null })
    assert.equal(service.output.stdout.split(CONSOLE_MISSING).length, 2)
    renameSync(`${built}.away`, built)
  })
})
