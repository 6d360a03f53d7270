/** The samples of the package: documents to start from, each with its tests. They are read at the first request. */
import { readdir, readFile } from 'node:fs/promises'
import { isObject, type Json } from '../core/json.ts'
import { isFileReference } from '../document/file-references.ts'

/** `document`: the text of its file. `text`: one sentence. */
export type Sample = Readonly<{ name: string; text: string; document: string; tests: readonly Json[] }>

export type ListSamples = () => Promise<readonly Sample[]>

/** In: the folder of the samples. Out: the shortest document first; none if the installation has no samples. */
export function createSamples(folder: URL): ListSamples {
  let read: Promise<readonly Sample[]> | undefined
  return () => {
    read ??= readSamples(folder)
    return read
  }
}

async function readSamples(folder: URL): Promise<readonly Sample[]> {
  const files = await readdir(folder, { recursive: true }).catch((): string[] => [])
  const documents = files.filter((file) => /[\\/]endpoint[^.]*\.json$/.test(file))
  const samples = await Promise.all(documents.map((file) => readSample(new URL(file.replaceAll('\\', '/'), folder))))
  return samples.sort((a, b) => a.document.length - b.document.length || (a.name < b.name ? -1 : 1))
}

async function readSample(file: URL): Promise<Sample> {
  const document = await readFile(file, 'utf8')
  const { name, description } = JSON.parse(document) as Readonly<{ name: string; description: string }>
  const beside = await readFile(new URL(file.href.replace(/json$/, 'tests.json')), 'utf8')
  const { tests } = JSON.parse(beside) as Readonly<{ tests: readonly Json[] }>
  return { name, text: description, document, tests: await Promise.all(tests.map((one) => fill(one, '', file))) }
}

/** The tests with the contents of the files that they name: a message is the text of its file, an expectation its value. */
async function fill(value: Json, within: string, file: URL): Promise<Json> {
  if (Array.isArray(value)) return Promise.all(value.map((item: Json) => fill(item, within, file)))
  if (!isObject(value)) return value
  if (isFileReference(value)) {
    const name = String(value.$file)
    const text = await readFile(new URL(name, file), 'utf8')
    return within === 'message' || !name.endsWith('.json') ? text : (JSON.parse(text) as Json)
  }
  const filled = Object.entries(value).map(async ([name, member]) => {
    const next = name === 'body' ? within : name
    return [name, await fill(member, next, file)] as const
  })
  return Object.fromEntries(await Promise.all(filled))
}
