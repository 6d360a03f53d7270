/** One tree of fields. Only the rows that can be seen are elements of the page. */
import { createContext, type KeyboardEvent, memo, type ReactNode, type RefObject, useContext, useMemo } from 'react'
import { Button as AriaButton } from 'react-aria-components/Button'
import { Collection } from 'react-aria-components/Collection'
import { Tree, TreeItem, TreeItemContent } from 'react-aria-components/Tree'
import type { DragAndDropHooks } from 'react-aria-components/useDragAndDrop'
import { ListLayout, Virtualizer } from 'react-aria-components/Virtualizer'
import { useSingleKeys } from '../../../ui/keys/keymap.ts'
import { VisibleText } from '../../../ui/text/visible-text.tsx'
import type { FieldNode, FieldTree } from '../model/field-tree.ts'
import type { FieldMark, Marks } from '../model/shown-fields.ts'

export const ROW_HEIGHT = 30
const LAYOUT = { rowSize: ROW_HEIGHT }
const MAX_NAME_CHARACTERS = 120

export type Side = 'source' | 'target'

export type FieldPaneProps = Readonly<{
  side: Side
  title: string
  tree: FieldTree
  marks: Marks
  /** A message says which fields there are. */
  isLoaded: boolean
  expanded: ReadonlySet<string>
  onExpanded(expanded: ReadonlySet<string>): void
  selected: string | undefined
  /** Fields at the other ends of what is selected. */
  related: ReadonlySet<string>
  onSelect(id: string | undefined): void
  /** `M` on a field. */
  onConnect: ((id: string) => void) | undefined
  hooks: DragAndDropHooks<FieldNode> | undefined
  scroller: RefObject<HTMLDivElement | null>
  onScroll(top: number): void
  /** Said where there are no fields. */
  empty: ReactNode
}>

type Shown = Readonly<{ side: Side; marks: Marks; isLoaded: boolean; related: ReadonlySet<string> }>
const ShownContext = createContext<Shown>({ side: 'source', marks: new Map(), isLoaded: false, related: new Set() })

/** Drawn again only if something of it changes. */
export const FieldPane = memo(function FieldPane({
  side,
  title,
  tree,
  marks,
  isLoaded,
  expanded,
  selected,
  related,
  scroller,
  ...on
}: FieldPaneProps) {
  const [hasSingleKeys] = useSingleKeys()
  const shown = useMemo(() => ({ side, marks, isLoaded, related }), [side, marks, isLoaded, related])
  const keys = useMemo(() => (selected === undefined ? [] : [selected]), [selected])
  // Before the tree itself, which goes to the next name with this letter.
  const onKeyDown = (event: KeyboardEvent) => {
    const isPlain = !(event.ctrlKey || event.metaKey || event.altKey)
    if (!hasSingleKeys || !isPlain || event.key.toLowerCase() !== 'm' || on.onConnect === undefined) return
    const id = findRow(event.target)
    if (id === undefined) return
    event.preventDefault()
    event.stopPropagation()
    on.onConnect(id)
  }
  return (
    <section className={`field-pane ${side}`} aria-label={title} onKeyDownCapture={onKeyDown}>
      <h2 className="field-pane-title">{title}</h2>
      <ShownContext value={shown}>
        <Virtualizer layout={ListLayout} layoutOptions={LAYOUT}>
          <Tree
            ref={scroller}
            aria-label={title}
            className="field-tree"
            items={tree.roots}
            selectionMode="single"
            selectionBehavior="toggle"
            selectedKeys={keys}
            onSelectionChange={(change) => on.onSelect(change === 'all' ? undefined : [...change].map(String)[0])}
            expandedKeys={expanded}
            onExpandedChange={(change) => on.onExpanded(new Set([...change].map(String)))}
            renderEmptyState={() => <div className="quiet popover-text">{on.empty}</div>}
            onScroll={(event) => on.onScroll(event.currentTarget.scrollTop)}
            {...(on.hooks && { dragAndDropHooks: on.hooks })}
          >
            {renderItem}
          </Tree>
        </Virtualizer>
      </ShownContext>
    </section>
  )
})

const findRow = (target: EventTarget): string | undefined =>
  target instanceof Element ? (target.closest<HTMLElement>('[data-node]')?.dataset.node ?? undefined) : undefined

const FieldItem = ({ node }: Readonly<{ node: FieldNode }>) => (
  <TreeItem
    id={node.id}
    value={node}
    textValue={node.name.slice(0, MAX_NAME_CHARACTERS)}
    className="mapping-row"
    data-node={node.id}
  >
    <TreeItemContent>
      {({ hasChildItems, allowsDragging }) => (
        <div className="field-line">
          {allowsDragging && (
            <AriaButton slot="drag" className="field-grip">
              <span aria-hidden="true">⠿</span>
            </AriaButton>
          )}
          {hasChildItems ? (
            <AriaButton slot="chevron" className="field-chevron">
              <span aria-hidden="true">›</span>
            </AriaButton>
          ) : (
            <span className="field-chevron" />
          )}
          <FieldContent node={node} />
        </div>
      )}
    </TreeItemContent>
    <Collection items={isEmpty(node) ? [{ ...node, id: `${node.id}/`, isClosed: false }] : node.children}>
      {renderItem}
    </Collection>
  </TreeItem>
)

/** Its fields are not there yet. A row that is never seen stands for them: the tree opens only rows that have others, by keys. */
const isEmpty = ({ isClosed, children }: FieldNode): boolean => isClosed === true && children.length === 0

const renderItem = (node: FieldNode) => <FieldItem node={node} />

const FieldContent = memo(function FieldContent({ node }: Readonly<{ node: FieldNode }>) {
  const { side, marks, isLoaded, related } = useContext(ShownContext)
  const { id, name, index, lists, count, sample, isUnknown } = node
  const mark = marks.get(id)
  const isScalar = sample !== undefined
  return (
    <span className={`field-content${related.has(id) ? ' related' : ''}${isUnknown ? ' unknown' : ''}`}>
      <span className="field-name" title={node.path.slice(0, 500)}>
        <VisibleText text={name} max={MAX_NAME_CHARACTERS} />
        {index === undefined ? null : <span className="field-lists">[{index}]</span>}
        {lists === 0 ? null : <span className="field-lists">{'[]'.repeat(Math.min(lists, 4))}</span>}
      </span>
      {lists > 0 && count !== undefined && (
        <span className="quiet-small" title={`${count.toLocaleString('en')} elements`}>
          ×{count.toLocaleString('en')}
        </span>
      )}
      <span className="quiet-small">{formatTypes(node, isLoaded && side === 'source')}</span>
      {isScalar && (
        <VisibleText
          as="span"
          className="field-sample"
          text={typeof sample === 'string' ? sample : JSON.stringify(sample)}
          max={MAX_NAME_CHARACTERS}
        />
      )}
      {mark === undefined ? null : <FieldMarks mark={mark} />}
    </span>
  )
})

/** Objects and lists show what they are by what they hold, and a root may have nothing in this message. */
function formatTypes({ types, of, isUnknown, path, name }: FieldNode, isOfMessage: boolean): string {
  if (of !== undefined) return of.replaceAll('_', ' ')
  if (isUnknown) return isOfMessage && path !== name ? 'not in the message' : ''
  return types.filter((type) => type !== 'object' && type !== 'array').join(', ')
}

function FieldMarks({ mark: { lines, unread, unwritten, isMissing } }: Readonly<{ mark: FieldMark }>) {
  return (
    <span className="field-marks">
      {isMissing && (
        <span className="field-mark warn" title="The output requires this field, and nothing writes it">
          required
        </span>
      )}
      {unread > 0 && (
        <span className="field-mark warn" title={`${unread.toLocaleString('en')} values are not read`}>
          unread
        </span>
      )}
      {unwritten > 0 && (
        <span className="field-mark warn" title="An entry wrote nothing here">
          not written
        </span>
      )}
      {lines > 0 && (
        <span className="field-mark lines" title={lines === 1 ? '1 entry' : `${lines} entries`}>
          <span className="visually-hidden">entries: </span>
          {lines}
        </span>
      )}
    </span>
  )
}
