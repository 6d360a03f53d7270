/** Records the management API on both ports: a scenario of calls, then each route with all that it refuses. */
import { join } from 'node:path'
import { BODIES, FORGED, MALFORMED, METHODS, MISSING, OTHER_PATHS, ROLES, SCENARIO, type Step } from './api-calls.ts'
import { type Answer, type Call, describeAnswer, send } from './http-call.ts'
import type { Recording } from './recording.ts'
import { runCommand, type Service, startService, until } from './tree-process.ts'
import { Upstream } from './upstream.ts'

type Keys = Readonly<Record<string, string>>
type Port = 'admin' | 'message'
type Operation = Readonly<{ parameters?: readonly Readonly<{ name: string; in: string }>[] }>
type Route = Readonly<{ path: string; operations: Readonly<Record<string, Operation>> }>

const bearer = (key = '') => ({ authorization: `Bearer ${key}` })
const JSON_TYPE = { 'content-type': 'application/json' }

export async function recordApi(recording: Recording): Promise<void> {
  const upstream = await Upstream.start()
  recording.stable.name(String(upstream.port), 'upstream port')
  for (const port of ['admin', 'message'] as const) {
    const folder = join(recording.work, `api-${port}`)
    const keys = await makeKeys(recording, folder)
    const service = await startService(recording.tree, folder, recording.stable, { MESSAGE_LOG: 'all' })
    await recordScenario(recording, service, port, keys, upstream)
    const described = await send(service.admin, { method: 'GET', path: '/openapi.json', headers: bearer(keys.admin) })
    recording.copy('generated/openapi.json', JSON.stringify(JSON.parse(described.body), undefined, 2))
    const routes = routesOf(described.body)
    if (port === 'admin') recordUncalled(recording, routes)
    for (const route of routes) await recordRoute(recording, service, port, keys, route)
    await recordOthers(recording, service, port, keys)
    await service.stop()
  }
  await recordForged(recording)
  upstream.stop()
}

async function makeKeys({ tree }: Recording, folder: string): Promise<Keys> {
  const keys: Record<string, string> = {}
  for (const role of ROLES) {
    const { stdout } = await runCommand(tree, folder, ['keys', 'create', '--name', role, '--role', role])
    keys[role] = /cwk_\S+/.exec(stdout)?.[0] ?? ''
  }
  return keys
}

async function ask(recording: Recording, file: string, title: string, base: string, call: Call): Promise<Answer> {
  const answer = await send(base, call).catch(
    (thrown: Error): Answer => ({ status: 0, headers: [], body: thrown.message }),
  )
  recording.write(file, title, describeAnswer(answer))
  recording.count()
  return answer
}

// The scenario.

/** By method and path of a step: those that were answered well. */
const wellAnswered = new Set<string>()

async function recordScenario(
  recording: Recording,
  service: Service,
  port: Port,
  keys: Keys,
  upstream: Upstream,
): Promise<void> {
  const values: Record<string, string> = { upstream: `127.0.0.1:${upstream.port}` }
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (all, name: string) => values[name] ?? all)
  for (const step of SCENARIO) {
    const [method = '', path = ''] = fill(step.call).split(' ')
    const isMessage = step.isMessage === true
    const body =
      step.body === undefined ? undefined : fill(typeof step.body === 'string' ? step.body : JSON.stringify(step.body))
    const headers = {
      ...(isMessage ? {} : bearer(keys.admin)),
      ...(method === 'GET' ? {} : JSON_TYPE),
      ...Object.fromEntries(Object.entries(step.headers ?? {}).map(([name, value]) => [name, fill(value)])),
    }
    const base = isMessage ? service.message : service[port]
    if (step.until !== undefined) await until(base, path, (text) => text.includes(step.until ?? ''), headers)
    const said = body === undefined ? '' : `\n${body.slice(0, 300)}`
    const answer = await ask(recording, `api/${port}/scenario.txt`, `${step.call}${said}`, base, {
      method,
      path,
      headers,
      body,
    })
    if (answer.status < 300 && port === 'admin') wellAnswered.add(`${method} ${path.split('?')[0]}`)
    for (const [name, value] of Object.entries(saved(step, answer))) {
      values[name] = value
      if (/^[0-9a-f]{16,24}$/.test(value)) recording.stable.name(value, `${name} of ${port}`)
    }
    const id = answer.headers.find(([name]) => name === 'x-crosswalk-message-id')?.[1]
    if (isMessage && id !== undefined) await until(service.admin, `/messages/${id}`, () => true, bearer(keys.admin))
  }
}

function saved({ save = {} }: Step, { headers, body }: Answer): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [name, from] of Object.entries(save)) {
    const header = headers.find(([one]) => `header:${one}` === from)?.[1]
    const value = header ?? (from.startsWith('header:') ? undefined : valueAt(body, from))
    if (value !== undefined) found[name] = value
  }
  return found
}

function valueAt(body: string, path: string): string | undefined {
  try {
    const found = path.split('.').reduce((value, name) => value?.[name], JSON.parse(body))
    return found === undefined ? undefined : String(found)
  } catch {
    return undefined
  }
}

/** So that a route which the scenario does not know is seen. */
function recordUncalled(recording: Recording, routes: readonly Route[]): void {
  const called = [...wellAnswered]
  const lines = routes.flatMap(({ path, operations }) =>
    Object.keys(operations)
      .map((method) => `${method} ${path}`)
      .filter((one) => {
        const pattern = new RegExp(`^${one.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`)
        return !called.some((line) => pattern.test(line))
      }),
  )
  recording.copy('api/routes-without-a-good-call.txt', lines.join('\n'))
}

// Each route, as the product lists them.

function routesOf(openapi: string): readonly Route[] {
  const { paths } = JSON.parse(openapi) as { paths: Record<string, Record<string, Operation>> }
  return Object.entries(paths)
    .map(([path, all]) => {
      const operations = Object.entries(all).filter(([method]) => method !== 'parameters')
      return { path, operations: Object.fromEntries(operations.map(([method, one]) => [method.toUpperCase(), one])) }
    })
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}

async function recordRoute(
  recording: Recording,
  service: Service,
  port: Port,
  keys: Keys,
  { path, operations }: Route,
): Promise<void> {
  const file = `api/${port}/${path.slice(1).replaceAll('/', '.').replaceAll(/[{}]/g, '_')}.txt`
  const missing = path.replace(/\{(\w+)\}/g, (_all, name: string) =>
    path.startsWith('/keys') ? '0'.repeat(16) : (MISSING[name] ?? 'x'),
  )
  const call = (title: string, method: string, at: string, headers: Readonly<Record<string, string>>, body?: string) =>
    ask(recording, file, `${method} ${path}: ${title}`, service[port], { method, path: at, headers, body })
  for (const method of METHODS) {
    const operation = operations[method]
    const admin = { ...bearer(keys.admin), ...(method === 'GET' ? {} : JSON_TYPE) }
    const body = /^P(?:OST|UT|ATCH)$/.test(method) ? '{}' : undefined
    await call('of what is not there', method, missing, admin, body)
    if (operation === undefined) continue
    if (missing !== path) await call('malformed', method, path.replaceAll(/\{\w+\}/g, MALFORMED), admin, body)
    await call('an unknown query', method, `${missing}?nonsense=1`, admin, body)
    for (const { name } of (operation.parameters ?? []).filter((one) => one.in === 'query')) {
      for (const value of ['', '%00', `a&${name}=b`])
        await call(`?${name}=${value}`, method, `${missing}?${name}=${value}`, admin, body)
    }
    for (const [title, headers, text] of body === undefined ? [] : BODIES) {
      await call(title, method, missing, { ...bearer(keys.admin), ...headers }, text)
    }
    await call('no key', method, missing, JSON_TYPE, body)
    await call('a wrong key', method, missing, { ...JSON_TYPE, ...bearer('nonsense') }, body)
    for (const role of ROLES) await call(`as ${role}`, method, missing, { ...JSON_TYPE, ...bearer(keys[role]) }, body)
  }
}

async function recordOthers(recording: Recording, service: Service, port: Port, keys: Keys): Promise<void> {
  for (const path of OTHER_PATHS) {
    for (const method of METHODS) {
      const headers = { ...bearer(keys.admin), accept: 'text/html', ...(method === 'GET' ? {} : JSON_TYPE) }
      await ask(recording, `api/${port}/other-paths.txt`, `${method} ${path}`, service[port], { method, path, headers })
    }
  }
}

/** Without keys the service is for callers of this machine. */
async function recordForged(recording: Recording): Promise<void> {
  const service = await startService(recording.tree, join(recording.work, 'forged'), recording.stable)
  for (const port of ['admin', 'message'] as const) {
    for (const headers of FORGED) {
      for (const path of ['/endpoints', '/metrics', '/']) {
        const call = { method: 'GET', path, headers }
        await ask(
          recording,
          `api/${port}/without-keys.txt`,
          `GET ${path} ${JSON.stringify(headers)}`,
          service[port],
          call,
        )
      }
    }
  }
  await service.stop()
}
