/**
 * Node-RED with the flow of one workload: http in, function, http response; with an xml node before the function where
 * XML comes in, and an http request node where something is looked up. Installed into a folder of its own, never a
 * dependency.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onCores, type Role } from '../processes/cores.ts'
import { freePort } from '../processes/free-port.ts'
import { type ServerProcess, startServer } from '../processes/server-process.ts'
import type { Upstream, Workload } from '../workloads/workload.ts'

const PACKAGE = 'node-red@5'
const HOME = join(tmpdir(), `crosswalk-bench-${PACKAGE.replace('@', '-')}`)
const INSTALLED = join(HOME, 'node_modules/node-red')

export type Installation = Readonly<{ version: string }> | Readonly<{ missing: string }>

/** The Node-RED that is there, after installing it where `mayInstall`; else why there is none. */
export function findNodeRed(mayInstall: boolean): Installation {
  if (!existsSync(HOME)) {
    if (!mayInstall) return { missing: 'not installed, and a quick run installs nothing' }
    const fault = install()
    if (fault !== undefined) return { missing: `npm could not install ${PACKAGE}: ${fault}` }
  }
  const { version } = JSON.parse(readFileSync(join(INSTALLED, 'package.json'), 'utf8')) as { version: string }
  return { version }
}

/** Out: what went wrong, or undefined. It gets its name when it is whole. */
function install(): string | undefined {
  const folder = mkdtempSync(`${HOME}-`)
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--omit=optional', '--loglevel=error']
  const { status, error, stderr } = spawnSync('npm', ['install', ...options, PACKAGE], {
    cwd: folder,
    encoding: 'utf8',
  })
  if (status === 0) {
    renameSync(folder, HOME)
    return undefined
  }
  rmSync(folder, { recursive: true, force: true })
  return error?.message ?? (stderr.trim().split('\n')[0] || `it ended with ${status}`)
}

/** Starts it with its default settings but for the port, without its editor; resolves when it listens. */
export async function startNodeRed(workload: Workload, upstream: Upstream, role: Role): Promise<ServerProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-bench-flow-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    const port = await freePort()
    const settings = { uiHost: '127.0.0.1', httpAdminRoot: false, logging: { console: { level: 'error' } } }
    writeFileSync(join(folder, 'settings.js'), `module.exports = ${JSON.stringify(settings)}\n`)
    writeFileSync(join(folder, 'flows.json'), JSON.stringify(flowOf(workload, upstream)))
    const options = ['--settings', 'settings.js', '--userDir', folder, '--port', port, '--no-telemetry']
    const command = [process.execPath, join(INSTALLED, 'red.js'), ...options, 'flows.json'] as const
    const path = workload.document(upstream).endpoint.pattern
    const server = await startServer(onCores(role, command), folder, { answersAt: { port, path } })
    return { ...server, stop: () => server.stop().finally(remove) }
  } catch (thrown) {
    remove()
    throw thrown
  }
}

/** A flow as its editor exports one. */
export function flowOf({ hand, document }: Workload, { origin }: Upstream): readonly object[] {
  const { lookups, map, serialise, contentType } = hand
  const output = `(${map})(message, found)`
  const work = [
    `const message = ${lookups === undefined ? 'msg.payload' : 'msg.message'}`,
    `const found = ${lookups === undefined ? '[]' : '[msg.payload]'}`,
    `msg.payload = ${serialise === undefined ? output : `(${serialise})(${output})`}`,
    `msg.headers = { 'content-type': ${JSON.stringify(contentType)} }`,
    'return msg',
  ]
  const nodes: object[] = [
    { type: 'http in', url: document({ origin }).endpoint.pattern, method: 'post' },
    ...(hand.parse === undefined ? [] : readXml),
    ...(lookups === undefined
      ? []
      : [
          func([
            'msg.message = msg.payload',
            `msg.url = ${JSON.stringify(origin)} + (${lookups})(msg.payload)[0]`,
            // What came with the message is not for the other system.
            'msg.headers = {}',
            'return msg',
          ]),
          { type: 'http request', method: 'GET', ret: 'obj', paytoqs: 'ignore', persist: true, headers: [] },
        ]),
    func(work),
    { type: 'http response', statusCode: '200' },
  ]
  const tab = { id: 'flow', type: 'tab', label: 'Benchmark' }
  const wired = nodes.map((node, at) => ({
    ...node,
    id: `node-${at}`,
    z: tab.id,
    wires: at + 1 < nodes.length ? [[`node-${at + 1}`]] : [],
  }))
  return [tab, ...wired]
}

function func(lines: readonly string[]): object {
  return { type: 'function', func: lines.join('\n'), outputs: 1 }
}

/** The shape that the service reads XML as is the one of the library that Node-RED has, with these options. */
const readXml = [
  func(['msg.options = { explicitArray: false, explicitRoot: false, trim: true }', 'return msg']),
  { type: 'xml', property: 'payload', attr: '', chr: '' },
]
