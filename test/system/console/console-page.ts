/** A service with its console open in a browser, as each test of the console has it. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import type { Role } from '../../../src/core/access.ts'
import { type ServiceWithKeys, startServiceWithKeys } from '../../support/api/access/service-with-keys.ts'
import { type Service, startService } from '../../support/service.ts'
import { loaded, openPage, signIn, type View } from './browser.ts'

export type ConsolePage = Readonly<{
  service: Service
  /** Where the console is: the origin of the admin port. */
  origin: string
  page: Page
  /** A key of each role, where the service asks for one. */
  keys: ServiceWithKeys['keys'] | undefined
  /** Opens a path below /console/, such as `endpoints?q=lab`, and waits until it has loaded. */
  open(path: string): Promise<void>
  /** Fails with each violation that axe finds on the page as it is now (WCAG 2.2 AA and best practices). */
  checkAccessibility(): Promise<void>
}>

export type ConsoleOptions = View &
  Readonly<{
    /** Settings of the service. */
    env?: Readonly<Record<string, string>>
    /** Signs in with a key of this role; without it the service asks for no key. */
    role?: Role
    /** A service that runs, to be left running. */
    of?: Service
    /** Misdeeds that this test causes on purpose, such as lost connections. */
    expected?: RegExp
  }>

/** Everything is closed after the test, which fails if the page did what no page may do. */
export async function openConsole(test: TestContext, options: ConsoleOptions = {}): Promise<ConsolePage> {
  const { service, keys } = await serviceFor(options)
  const origin = `http://127.0.0.1:${service.app.adminPort}`
  const { page, misdeeds, close } = await openPage(origin, options)
  test.after(async () => {
    // What a wait that timed out had before it is known from the page alone.
    if ('passed' in test && test.passed === false)
      test.diagnostic(`The page shows:\n${await page.locator('body').innerText()}`)
    await close()
    if (options.of === undefined) await service.stop()
    assert.deepEqual(
      misdeeds.filter((one) => options.expected?.test(one) !== true),
      [],
    )
  })
  const key = options.role === undefined ? undefined : keys?.[options.role]
  const open = async (path: string) => {
    await page.goto(`/console/${path}`)
    if (key !== undefined) await signIn(page, key)
    await loaded(page)
  }
  return { service, origin, page, keys, open, checkAccessibility: () => checkAccessibility(page) }
}

async function serviceFor({ env, role, of }: ConsoleOptions): Promise<Partial<ServiceWithKeys> & { service: Service }> {
  if (of !== undefined) return { service: of }
  return role === undefined ? { service: await startService(env) } : startServiceWithKeys(env)
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

type AxeResults = Readonly<{
  violations: readonly Readonly<{
    id: string
    help: string
    nodes: readonly Readonly<{ html: string; failureSummary?: string }>[]
  }>[]
}>

async function checkAccessibility(page: Page): Promise<void> {
  // By the debugging protocol, which the policy of the page does not concern: the page stays as users have it.
  await page.evaluate(`if (window.axe === undefined) { ${AXE} }`)
  const { violations } = (await page.evaluate(
    'window.axe.run(document, { resultTypes: ["violations"] })',
  )) as AxeResults
  const found = violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n  ${html}\n  ${failureSummary ?? ''}`),
  )
  assert.deepEqual(found, [])
}
