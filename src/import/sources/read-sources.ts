/** Reads what `crosswalk import` was given: files, folders and URLs. */
import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { readFault } from '../../domain/files/files.ts'
import { missingScheme } from '../../domain/http.ts'
import { manifestBeside } from '../output/import-manifest.ts'
import { readFileSource } from './file-source.ts'
import { readFolderSource, realpathOf, withOwnStates } from './folder-source.ts'
import { isUrl, type PeerOptions, readPeerSource } from './peer-source.ts'
import { faultyReading, joinReadings, type SourceReading } from './source-reading.ts'

export type ReadOptions = PeerOptions &
  Readonly<{
    /** The folder that the import writes to; it is no source unless it is named as one. */
    output: string
  }>

/** Never throws: `faults` of the reading has everything that could not be read, from all sources. */
export async function readSources(sources: readonly string[], options: ReadOptions): Promise<SourceReading> {
  const readings: SourceReading[] = []
  for (const source of new Set(sources)) {
    const reading = await (isUrl(source) ? readPeerSource(source, options) : readPath(source, options.output))
    const { documents, states, faults } = reading
    const isEmpty = documents.length + states.length + faults.length === 0
    readings.push(isEmpty ? { ...reading, faults: [`${source} has no endpoint document and no state.`] } : reading)
  }
  const reading = joinReadings(readings)
  return { ...reading, faults: [...reading.faults, ...repeatedSources(reading)] }
}

async function readPath(path: string, output: string): Promise<SourceReading> {
  let isFolder: boolean
  try {
    isFolder = statSync(path).isDirectory()
  } catch (thrown) {
    return faultyReading(missingScheme(path) ?? readFault(path, thrown))
  }
  if (isFolder) return readFolderSource({ path, source: path, output: realpathOf(output) })
  const manifest = manifestBeside(path)
  return withOwnStates(await readFileSource({ path, source: path, manifest, isNamed: true }), dirname(path), manifest)
}

/** A file that was given both by itself and in its folder would be imported twice. */
function repeatedSources({ documents }: SourceReading): readonly string[] {
  const seen = new Set<string>()
  return documents.flatMap(({ source }) => {
    if (!seen.has(source)) {
      seen.add(source)
      return []
    }
    return [`${source} was given twice.`]
  })
}
