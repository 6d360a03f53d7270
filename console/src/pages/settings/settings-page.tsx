/** `/settings`: what the service runs with, how long it keeps what, read only; for admins. */
import { useState } from 'react'
import type { Got } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { useRefusal } from '../../api/session.ts'
import { Checkbox } from '../../ui/controls/fields.tsx'
import { type Column, DataTable } from '../../ui/data/data-table.tsx'
import { Answer, Empty, Page, Section } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'

type Setting = Got<'/settings'>['groups'][number]['settings'][number]

export default function SettingsPage() {
  const refused = useRefusal('admin')
  return (
    <Page title="Settings">
      {refused === undefined ? <SettingGroups /> : <Empty title="The settings are for admins">{refused}</Empty>}
    </Page>
  )
}

function SettingGroups() {
  const [isChanged, setChanged] = useState(false)
  return (
    <Answer of={queries.settings} what="Loading the settings">
      {({ version, groups }) => {
        const shown = groups
          .map(({ title, settings }) => ({ title, rows: settings.filter((one) => !isChanged || !one.isDefault) }))
          .filter(({ rows }) => rows.length > 0)
        return (
          <>
            <p>
              Version {version}. Settings are variables of the environment of the service and are read when it starts.
            </p>
            <Checkbox text="Only what differs from the default" checked={isChanged} onChange={setChanged} />
            {shown.length === 0 && <Empty title="Every setting has its default">Nothing was set.</Empty>}
            {shown.map(({ title, rows }) => (
              <Section key={title} title={title}>
                <DataTable label={title} columns={COLUMNS} rows={rows} getRowId={({ name }) => name} />
              </Section>
            ))}
          </>
        )
      }}
    </Answer>
  )
}

const valueText = ({ value, isDefault }: Setting): string =>
  value ?? (isDefault ? 'not set' : 'set, and not shown here')

const COLUMNS: readonly Column<Setting>[] = [
  { title: 'Setting', isName: true, render: ({ name }) => <code className="wrap">{name}</code> },
  {
    title: 'Value',
    render: (setting) => (
      <VisibleText
        as="span"
        className={setting.isDefault ? 'quiet' : 'strong'}
        text={valueText(setting) || 'not set'}
        max={300}
      />
    ),
  },
  { title: 'Default', render: (setting) => setting.default || <span className="quiet">–</span> },
  { title: 'Meaning', render: ({ means }) => means.replaceAll('`', '') },
]
