/** Connects two fields: names the other end if it is not known, and chooses among the entries that could do it. */
import { useId, useMemo, useState } from 'react'
import { ComboField } from '../../../ui/controls/combo-field.tsx'
import { ConfirmDialog } from '../../../ui/controls/dialog.tsx'
import { TextField } from '../../../ui/controls/fields.tsx'
import { VisibleText } from '../../../ui/text/visible-text.tsx'
import { findWriters } from '../model/entry-edits.ts'
import type { FieldNode, FieldTree } from '../model/field-tree.ts'
import type { MappingText } from '../model/mapping-entries.ts'
import { findTargetNode, targetTree } from '../model/mapping-trees.ts'
import { type Proposal, proposalsIn } from '../model/proposals.ts'
import { type Preview, PreviewText, type RequestFor, usePreviews } from './proposal-preview.tsx'

export type ConnectDialogProps = Readonly<{
  from: FieldNode | undefined
  to: FieldNode | undefined
  sources: FieldTree
  targets: FieldTree
  mapping: MappingText
  requestFor: RequestFor
  /** Out: why it was not done. */
  onConnect(proposal: Proposal): string | undefined
  onClose(): void
}>

export function ConnectDialog({
  from,
  to,
  sources,
  targets,
  mapping,
  requestFor,
  onConnect,
  onClose,
}: ConnectDialogProps) {
  const [typed, setTyped] = useState('')
  const [chosen, setChosen] = useState(0)
  const [own, setOwn] = useState<Readonly<{ source?: string; key?: string }>>({})
  const proposals = useMemo(
    () => findProposals(mapping, from, to, typed, sources, targets),
    [mapping, from, to, typed, sources, targets],
  )
  const others = from === undefined ? sources : targets
  const suggestions = useMemo(() => [...others.nodes.values()].map(({ path }) => ({ value: path })), [others])
  const proposal = proposals[chosen] ?? proposals[0]
  const shown = proposal && { ...proposal, ...own }
  const previews = usePreviews(mapping, requestFor, shown === undefined ? [] : isOwn(own) ? [shown] : proposals)
  const writers = shown === undefined ? [] : findWriters({ ...mapping, ...shown.within }, shown.source, shown.key)
  const connect = () => {
    if (shown === undefined) return
    const why = onConnect(shown)
    if (why !== undefined) throw new Error(why)
  }
  const choose = (at: number) => {
    setChosen(at)
    setOwn({})
  }
  const known = from ?? to
  const title = from === undefined ? 'Connect a source' : to === undefined ? 'Connect to a target' : 'How to connect'
  return (
    <ConfirmDialog
      title={title}
      confirm="Connect"
      refused={shown === undefined ? 'Choose a field first.' : undefined}
      onConfirm={connect}
      onClose={onClose}
    >
      {from !== undefined && to !== undefined ? null : (
        <ComboField
          label={from === undefined ? `Source of ${known?.path ?? ''}` : `Target of ${known?.path ?? ''}`}
          value={typed}
          suggestions={suggestions}
          onChange={(value) => {
            setTyped(value)
            choose(0)
          }}
          allowsOther
          autoFocus
        />
      )}
      {proposals.length > 1 && (
        <Choices
          proposals={proposals}
          chosen={isOwn(own) ? undefined : chosen}
          previews={isOwn(own) ? [] : previews}
          onChoose={choose}
        />
      )}
      {shown === undefined ? null : (
        <>
          <div className="columns">
            <TextField label="Source path" value={shown.source} onChange={(source) => setOwn({ ...own, source })} />
            <TextField label="Target path" value={shown.key} onChange={(key) => setOwn({ ...own, key })} />
          </div>
          {(proposals.length === 1 || isOwn(own)) && <PreviewText preview={previews[0]} />}
          {writers.length === 0 ? null : (
            <p role="status">
              <VisibleText text={writers.join(', ')} max={200} /> writes <code>{shown.key}</code> already. Where both
              find a value, the later entry of the document replaces the other value; if one is a list or an object and
              the other is not, the message fails.
            </p>
          )}
        </>
      )}
    </ConfirmDialog>
  )
}

const isOwn = (own: object): boolean => Object.keys(own).length > 0

function findProposals(
  mapping: MappingText,
  from: FieldNode | undefined,
  to: FieldNode | undefined,
  typed: string,
  sources: FieldTree,
  targets: FieldTree,
): readonly Proposal[] {
  if (from !== undefined && to !== undefined) return proposalsIn(mapping, from, to)
  const text = typed.trim()
  if (text === '') return []
  if (from === undefined) {
    const source = findField(sources, text)
    if (to === undefined) return []
    return source === undefined ? [{ source: text, key: to.path, what: 'the value' }] : proposalsIn(mapping, source, to)
  }
  const target = findField(targets, text) ?? newTarget(text)
  return target === undefined
    ? [{ source: from.path, key: text, what: 'the value' }]
    : proposalsIn(mapping, from, target)
}

const findField = ({ nodes }: FieldTree, path: string): FieldNode | undefined =>
  [...nodes.values()].find((node) => node.path === path)

/** A target that is not there yet; undefined if its text has marks of its own, which stay as they are typed. */
function newTarget(text: string): FieldNode | undefined {
  const tree = targetTree([], [], [text])
  const node = tree.nodes.get(findTargetNode(tree, text) ?? '')
  return node?.path === text ? node : undefined
}

type ChoicesProps = Readonly<{
  proposals: readonly Proposal[]
  chosen: number | undefined
  previews: readonly (Preview | undefined)[]
  onChoose(at: number): void
}>

function Choices({ proposals, chosen, previews, onChoose }: ChoicesProps) {
  const name = useId()
  return (
    <fieldset className="choices stack">
      <legend>The lists of the two fields differ. What is meant?</legend>
      {proposals.map(({ source, key, transform, each, within, what }, at) => (
        <label key={`${within?.id} ${source} ${key} ${each?.source} ${transform ?? ''}`} className="choice row">
          <input type="radio" name={name} checked={at === chosen} onChange={() => onChoose(at)} />
          <span>
            <span className="block">{what}</span>
            <PreviewText preview={previews[at]} />
          </span>
        </label>
      ))}
    </fieldset>
  )
}
