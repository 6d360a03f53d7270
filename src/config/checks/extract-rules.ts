/** The paths of `state.extract` are read within a part of the message, which authors often repeat in the path. */
import { documentPath, type LintSink } from '../../domain/lint.ts'
import { didYouMean } from '../../domain/nearest.ts'
import type { Endpoint } from '../schema/schema.ts'
import { UNKNOWN } from '../schema/schema-fields.ts'

/** In: `lint` at `state.extract`. Lints, as errors: ids of no lookup. As warnings: paths that start with the part they are read in. */
export function lintExtract({ requests, state }: Endpoint, lint: LintSink): void {
  const { requestBody = {}, responseBody = {}, query = {}, lookupRequests = {} } = state.extract ?? {}
  for (const [root, paths] of Object.entries({ requestBody, responseBody, query })) {
    for (const [name, path] of Object.entries(paths)) {
      if (path !== root && !path.startsWith(`${root}.`)) continue
      lint.at(root, name).warning(`The path is read within "${root}" already; leave "${root}" out of it.`)
    }
  }
  const ids = requests.lookup.map(({ id }) => id)
  for (const [id, paths] of Object.entries(lookupRequests)) {
    const sink = lint.at('lookupRequests', id)
    for (const [name, path] of Object.entries(paths))
      lintWithinData(path, documentPath('lookupRequests', id), sink.at(name))
    if (ids.includes(id) || ids.includes(UNKNOWN)) continue
    sink.error(`There is no lookup with the id "${id}"${didYouMean(id, ids)}`)
  }
}

/** Data may have a field of its own that is named so. */
function lintWithinData(path: string, lookup: string, lint: LintSink): void {
  const [, inner] = /^data(?:\.(?=.)|(?=\[))(.*)$/s.exec(path) ?? []
  if (inner === undefined) return
  lint.warning(
    `The path is read within the data of the lookup already, so this finds "${lookup}.data.${path}"; write "${inner}" if that is not meant.`,
  )
}
