/** What a case of the corpora is, and how one is sent: to a real service, over HTTP, as bytes. */
import { type Reply, type Service, startService } from '../../support/service.ts'

export type Body = string | Uint8Array

/** `type` is the `Content-Type`, where it is not the plain one of the format. */
export type Case = Readonly<{ name: string; body: Body; type?: string }>

/** `gives` is the whole answer; the body itself where it is left out. */
export type AcceptedCase = Case & Readonly<{ gives?: string }>

export type Corpus = Readonly<{
  service: Service
  json(one: Case): Promise<Reply>
  xml(one: Case): Promise<Reply>
  stop(): Promise<void>
}>

/** One service with an endpoint for each format, which answers with what it read, as JSON. */
export async function startCorpus(): Promise<Corpus> {
  const service = await startService()
  for (const input of ['JSON', 'XML']) {
    await service.register({
      endpoint: { pattern: `/${input.toLowerCase()}` },
      transformation: { input, output: 'JSON' },
    })
  }
  const post =
    (path: string, usual: string) =>
    ({ body, type = usual }: Case) =>
      service.fetch(path, { method: 'POST', headers: { 'content-type': type }, body: Buffer.from(body) })
  return {
    service,
    json: post('/json', 'application/json'),
    xml: post('/xml', 'application/xml'),
    stop: () => service.stop(),
  }
}

export const bytes = (...parts: readonly (string | number)[]): Uint8Array =>
  Buffer.concat(parts.map((part) => (typeof part === 'number' ? Buffer.from([part]) : Buffer.from(part))))

export const utf16le = (text: string): Uint8Array => Buffer.from(text, 'utf16le')
export const utf16be = (text: string): Uint8Array => Buffer.from(text, 'utf16le').swap16()
export const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1')

/** Names that occur more than once: each case is to be found by its name. */
export function repeatedNames(cases: readonly Case[]): string[] {
  const names = cases.map(({ name }) => name)
  return names.filter((name, index) => names.indexOf(name) !== index)
}
