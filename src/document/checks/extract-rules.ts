/** The service reads paths of `state.extract` within a part of the message; authors often repeat that part in the path. */
import { documentPath, type LintSink } from '../../core/lint.ts'
import type { Endpoint } from '../schema/schema.ts'
import { checkLookupId } from './names-below-roots.ts'

/** `lint` is at `state.extract`. Lints, as errors: unknown lookups. As warnings: paths that start with their part. */
export function lintExtract(endpoint: Endpoint, lint: LintSink): void {
  const { requestBody = {}, responseBody = {}, query = {}, lookupRequests = {} } = endpoint.state.extract ?? {}
  for (const [root, paths] of Object.entries({ requestBody, responseBody, query })) {
    for (const [name, path] of Object.entries(paths)) {
      if (path !== root && !path.startsWith(`${root}.`)) continue
      lint.at(root, name).warning(`The path is read within "${root}" already; leave "${root}" out of it.`)
    }
  }
  for (const [id, paths] of Object.entries(lookupRequests)) {
    const sink = lint.at('lookupRequests', id)
    for (const [name, path] of Object.entries(paths))
      lintWithinData(path, documentPath('lookupRequests', id), sink.at(name))
    checkLookupId(id, endpoint, sink)
  }
}

/** A warning only, since the data of a lookup may have a field `data`. */
function lintWithinData(path: string, lookup: string, lint: LintSink): void {
  const [, inner] = /^data(?:\.(?=.)|(?=\[))(.*)$/s.exec(path) ?? []
  if (inner === undefined) return
  lint.warning(
    `The path is read within the data of the lookup already, so this finds "${lookup}.data.${path}"; write "${inner}" if that is not meant.`,
  )
}
