/** Views of one thing beside each other, of which one is shown. A view that must be a link is a page instead. */
import type { ReactNode } from 'react'
import { Tabs as AriaTabs, Tab, TabList, TabPanel } from 'react-aria-components/Tabs'

export type TabsProps<Id extends string> = Readonly<{
  /** What the views have in common, for readers of the screen. */
  label: string
  tabs: readonly Readonly<{ id: Id; title: ReactNode; render(): ReactNode }>[]
  shown: Id
  onShow(id: Id): void
}>

export function Tabs<Id extends string>({ label, tabs, shown, onShow }: TabsProps<Id>) {
  return (
    <AriaTabs
      selectedKey={shown}
      onSelectionChange={(key) => {
        const chosen = tabs.find(({ id }) => id === key)
        if (chosen !== undefined) onShow(chosen.id)
      }}
    >
      <TabList aria-label={label} className="tab-list row">
        {tabs.map(({ id, title }) => (
          <Tab key={id} id={id} className="tab">
            {title}
          </Tab>
        ))}
      </TabList>
      {tabs.map(({ id, render }) => (
        <TabPanel key={id} id={id} className="tab-panel">
          {render()}
        </TabPanel>
      ))}
    </AriaTabs>
  )
}
