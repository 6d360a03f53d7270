/** A body in JSON as a tree: folded, searched, and with the path of each value to copy. Only rows that are unfolded are made. */
import { useEffect, useMemo, useRef, useState } from 'react'
import { Button as AriaButton } from 'react-aria-components/Button'
import { Tree, TreeItem, TreeItemContent } from 'react-aria-components/Tree'
import { Button } from '../controls/button.tsx'
import { TextField } from '../controls/fields.tsx'
import { splitText } from '../text/text-parts.ts'
import { VisibleText } from '../text/visible-text.tsx'
import { copyText } from './clipboard.ts'
import { findNodes, type JsonNode, pathOf, readJsonTree } from './json-tree.ts'

/** Of one object or list. */
const ROWS_AT_ONCE = 100
const MAX_FOUND = 500
const MAX_VALUE_CHARACTERS = 500
const MORE = 'more-'

/** `root`: where paths start. */
export type BodyTreeProps = Readonly<{ text: string; label: string; root: string }>

export function BodyTree({ text, label, root }: BodyTreeProps) {
  const tree = useMemo(() => readJsonTree(text), [text])
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set())
  const [limits, setLimits] = useState<ReadonlyMap<string, number>>(new Map())
  const [selected, setSelected] = useState<JsonNode>()
  const [search, setSearch] = useState('')
  const found = useMemo(() => (tree ? findNodes(tree, search, MAX_FOUND) : []), [tree, search])
  if (tree === undefined) return <p className="popover-text">It is nested too deeply for a tree.</p>
  const shownOf = ({ id }: JsonNode) => limits.get(id) ?? ROWS_AT_ONCE
  const reveal = (node: JsonNode) => {
    const [open, more] = [new Set(unfolded), new Map(limits)]
    for (let at = node; at.parent !== undefined; at = at.parent) {
      open.add(at.parent.id)
      const index = at.parent.children.indexOf(at)
      if (index >= shownOf(at.parent)) more.set(at.parent.id, index + ROWS_AT_ONCE)
    }
    setUnfolded(open)
    setLimits(more)
    setSelected(node)
  }
  const at = selected === undefined ? -1 : found.indexOf(selected)
  const next = () => {
    const node = found[(at + 1) % found.length]
    if (node !== undefined) reveal(node)
  }
  const byId = new Map<string, JsonNode>()
  const toRows = (parent: JsonNode) => {
    const max = shownOf(parent)
    const left = parent.children.length - max
    return [
      ...parent.children.slice(0, max).map((node) => {
        byId.set(node.id, node)
        return (
          <TreeItem
            key={node.id}
            id={node.id}
            textValue={visible(`${node.name}: ${summary(node)}`)}
            hasChildItems={node.children.length > 0}
            className="json-row"
          >
            <TreeItemContent>
              <Row node={node} isSelected={selected === node} />
            </TreeItemContent>
            {unfolded.has(node.id) ? toRows(node) : toUnseen(node)}
          </TreeItem>
        )
      }),
      ...(left > 0
        ? [
            <TreeItem key="more" id={MORE + parent.id} textValue={`Show more of ${left}`} className="json-row">
              <TreeItemContent>
                <span className="json-line quiet">Show more of {left.toLocaleString('en')} …</span>
              </TreeItemContent>
            </TreeItem>,
          ]
        : []),
    ]
  }
  const select = (key: string | undefined) => {
    if (key?.startsWith(MORE) !== true) return setSelected(key === undefined ? undefined : byId.get(key))
    const id = key.slice(MORE.length)
    setLimits(new Map(limits).set(id, (limits.get(id) ?? ROWS_AT_ONCE) + ROWS_AT_ONCE))
  }
  const path = selected && pathOf(selected, root)
  return (
    <div className="json-tree">
      <div className="row json-tree-bar">
        <TextField
          label="Find"
          type="search"
          value={search}
          onChange={setSearch}
          onKeyDown={(event) => event.key === 'Enter' && next()}
        />
        <Button
          text="Next"
          tone="quiet"
          refused={found.length === 0 ? 'Nothing is found.' : undefined}
          onPress={next}
        />
        <span role="status" className="quiet">
          {search.trim() !== '' && `${at + 1} of ${found.length}${found.length === MAX_FOUND ? ' or more' : ''}`}
        </span>
        <Button
          text="Copy path"
          tone="quiet"
          refused={path === undefined ? 'Select a row first.' : undefined}
          onPress={() => path !== undefined && void copyText(path, 'Path')}
        />
        {path !== undefined && <VisibleText code text={path} max={200} />}
      </div>
      <Tree
        aria-label={`${label} as a tree`}
        className="json-rows"
        selectionMode="single"
        selectionBehavior="replace"
        selectedKeys={selected === undefined ? [] : [selected.id]}
        onSelectionChange={(change) => select(change === 'all' ? undefined : [...change].map(String)[0])}
        expandedKeys={unfolded}
        onExpandedChange={(change) => setUnfolded(new Set([...change].map(String)))}
      >
        {toRows(tree)}
      </Tree>
    </div>
  )
}

/** Readers of the screen hear the code points that others see. */
const visible = (text: string): string =>
  splitText(text)
    .map((part) => part.text)
    .join('')

/** Keys unfold only what has rows: one, not seen as long as its parent is folded. */
const toUnseen = ({ id, children }: JsonNode) =>
  children.length > 0 && (
    <TreeItem id={`${MORE}${id}`} textValue="">
      <TreeItemContent>…</TreeItemContent>
    </TreeItem>
  )

const summary = ({ kind, value, children: { length } }: JsonNode): string => {
  if (kind === 'object') return length === 1 ? '{1 field}' : `{${length} fields}`
  if (kind === 'list') return length === 1 ? '[1 entry]' : `[${length} entries]`
  return value.slice(0, MAX_VALUE_CHARACTERS)
}

function Row({ node, isSelected }: Readonly<{ node: JsonNode; isSelected: boolean }>) {
  const line = useRef<HTMLDivElement>(null)
  // Of the row, not of the tree: rows are made later than the tree that they are in.
  useEffect(() => {
    if (isSelected) line.current?.scrollIntoView({ block: 'nearest' })
  }, [isSelected])
  return (
    <div ref={line} className="json-line">
      {node.children.length > 0 ? (
        <AriaButton slot="chevron" className="field-chevron">
          <span aria-hidden="true">›</span>
        </AriaButton>
      ) : (
        <span className="field-chevron" />
      )}
      <VisibleText as="span" className="json-name" text={`${node.name}`} max={120} />
      <span className={`json-${node.kind}`}>
        <VisibleText
          text={node.kind === 'string' || node.kind === 'other' ? node.value : summary(node)}
          max={MAX_VALUE_CHARACTERS}
        />
      </span>
    </div>
  )
}
