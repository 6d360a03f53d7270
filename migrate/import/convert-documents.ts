/** Converts documents of openhim-mediator-mapping ("the peer") to documents of this service. */

import { createCredentialNames, type SecretLine } from '../../src/cli/deployment/credential-names.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { checkDocument } from '../../src/document/checks/check-document.ts'
import {
  convertConsumer,
  convertExpressions,
  convertRoute,
  convertState,
  dropUnusable,
  removeNothings,
  removeUnknown,
} from './convert-fields.ts'
import { convertMapping } from './convert-mapping.ts'
import {
  convertClientOptions,
  convertOldParameters,
  convertRequestPaths,
  convertRequests,
  listRequests,
  REQUEST_GROUPS,
  type RequestGroup,
} from './convert-requests.ts'
import { convertHeaders, convertUrl, type Rebase, type UrlContext } from './convert-urls.ts'
import { convertValidation } from './convert-validation.ts'
import { type DocumentChange, type DocumentPart, openDraft, toText } from './draft.ts'
import type { FoundDocument, FoundSet, FoundState } from './found-records.ts'
import { decideForm, type LookupForm, listDocumentReads, listLookups, versionForm } from './lookup-forms.ts'
import { noteChains } from './note-chains.ts'
import { newestState } from './stored-state.ts'

export type ConvertedDocument = Readonly<{
  source: string
  document: JsonObject
  changes: readonly DocumentChange[]
  /** The newest state of the endpoint, in the form in which this service stores it. */
  state?: JsonObject
}>

export type ConversionOptions = Readonly<{
  /**
   * The version of the peer that the documents were written for, for example `2.4.0`; undefined: found out from the
   * documents.
   */
  peerVersion: string | undefined
  consumerStart: string | undefined
  rebase: Rebase
}>

/** `undecided`: the question to ask if the set does not show which version of the peer it was written for. */
export type Conversion =
  | Readonly<{ documents: readonly ConvertedDocument[]; secrets: readonly SecretLine[]; undecided?: undefined }>
  | Readonly<{ undecided: string }>

type SetContext = UrlContext &
  Readonly<{
    form: LookupForm
    isContradictory: boolean
    options: ConversionOptions
    states: readonly FoundState[]
    all: readonly FoundDocument[]
  }>

/**
 * In: the documents and states of one service of the peer. Out: the documents in the form of this service with the report of
 * every change, and the credentials that were in them; or a question, if the set does not show which version of the peer it was
 * written for. Documents that an earlier import wrote stay as they are.
 */
export function convertDocuments({ documents, states }: FoundSet, options: ConversionOptions): Conversion {
  const decided = decideForm(documents, options.peerVersion)
  if ('undecided' in decided) return decided
  const secrets = createCredentialNames()
  const peers = new Set(
    documents.flatMap(({ source }) => /^https?:\/\/([^/?#]+)/i.exec(source)?.[1]?.toLowerCase() ?? []),
  )
  const context: SetContext = { ...decided, secrets, rebase: options.rebase, peers, options, states, all: documents }
  const converted = documents.map((found) => convertDocument(found, context, distinctName(found, documents)))
  const text = JSON.stringify(converted.map(({ document }) => document))
  return {
    documents: converted.map((one) => ({ ...one, changes: one.changes.map((change) => shown(change, context)) })),
    secrets: secrets.lines().filter(({ name }) => text.includes(`\${env:${name}}`)),
  }
}

/** Names were unique from version 1 on, which had the documents in a database. */
function distinctName(found: FoundDocument, documents: readonly FoundDocument[]): string | undefined {
  const { name } = found.document
  if (typeof name !== 'string' || found.peerVersion === undefined || found.isCanonical) return undefined
  const same = documents.filter(({ document, peerVersion }) => peerVersion !== undefined && document.name === name)
  const number = same.indexOf(found) + 1
  return number === 1 ? undefined : `${name} ${number}`
}

function convertDocument(found: FoundDocument, context: SetContext, ownName: string | undefined): ConvertedDocument {
  const { source, document, isCanonical, duplicateNames, peerVersion } = found
  if (isCanonical) return { source, document, changes: [] }
  const { options, states, isContradictory } = context
  const form = peerVersion === undefined ? context.form : versionForm(peerVersion)
  const { root, changes } = openDraft(document)
  for (const { path, dropped } of duplicateNames) {
    const reason = 'The name is here twice; that service kept the last value, as the import does.'
    root.noteAt(path, 'changed', reason, { before: dropped })
  }
  if (ownName !== undefined) {
    const reason = 'Another folder of the import has the same name, and here each endpoint has a name of its own.'
    root.at('name').set(ownName, 'changed', reason)
  }
  if (form === 'bare' && isContradictory && listDocumentReads(document).includes('parts')) {
    root.note(
      'differs',
      'Other documents of this import were written for a version before 3, so "data" and "headers" below a lookup were read as fields of its answer. If this document was written for version 3, import it with --peer-version 3.',
    )
  }
  removeNothings(root)
  convertRoute(root)
  convertRequests(root)
  noteChains(root, found, context.all, context)
  for (const kind of REQUEST_GROUPS) {
    for (const request of listRequests(root, kind)) convertCall(kind, request, form, context, toText(document.name))
  }
  convertPaths(root, form, peerVersion ?? options.peerVersion)
  convertConsumer(root, options.consumerStart)
  removeUnknown(root)
  const converted = root.clean() as JsonObject
  const own = typeof document._id === 'string' ? states.filter(({ endpointId }) => endpointId === document._id) : []
  const state = newestState(own, converted)
  return { source, document: converted, changes, ...(state === undefined ? {} : { state }) }
}

function convertCall(
  kind: RequestGroup,
  request: DocumentPart,
  form: LookupForm,
  context: SetContext,
  name: string,
): void {
  const place = [name, toText(request.at('id').value)]
  const config = request.at('config')
  convertUrl(config, context, ...place)
  convertHeaders(config, context.secrets, ...place)
  convertClientOptions(request, kind)
  convertOldParameters(config.at('params'), form)
}

/** The parts that read the message. Each needs the parts before it as they are now. */
function convertPaths(root: DocumentPart, form: LookupForm, peerVersion: string | undefined): void {
  const contextNow = () => {
    const document = root.clean() as JsonObject
    return { form, peerVersion, lookups: listLookups(document), endpoint: checkDocument(document).endpoint }
  }
  const convertRequestGroup = (group: RequestGroup) => {
    const context = contextNow()
    for (const request of listRequests(root, group)) convertRequestPaths(request, group, context)
  }
  convertRequestGroup('lookup')
  dropUnusable(root)
  convertExpressions(root, contextNow())
  convertRequestGroup('response')
  convertMapping(root, contextNow())
  convertValidation(root, contextNow())
  convertState(root, form, listLookups(root.clean() as JsonObject))
}

/** A report without credentials. */
function shown({ path, before, after, ...rest }: DocumentChange, { secrets }: SetContext): DocumentChange {
  const name = path.split('.').at(-1) ?? ''
  return {
    ...rest,
    path,
    ...(before === undefined ? {} : { before: secrets.shown(before, name) }),
    ...(after === undefined ? {} : { after: secrets.shown(after, name) }),
  }
}
