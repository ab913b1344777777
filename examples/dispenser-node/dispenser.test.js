const assert = require('node:assert/strict')
const test = require('node:test')
const { dispense, settings } = require('./dispenser')

settings.page = '/terms/accept'
const user = (accepted) => ({ id: '1', name: 'Ada', columns: { terms_accepted: accepted } })

test('holds people at the terms', () => {
  for (const form of [{}, { accept: false }, { accept: 'true' }]) {
    assert.deepEqual(dispense(user(null), { form }).fields.intent, { kind: 'hold', target: '/terms/accept', prefixes: [] })
  }
})

test('lets them on once they have accepted', () => {
  const answer = dispense(user(null), { form: { accept: true } })
  assert.equal(answer.fields.intent.kind, 'done')
  assert.equal(answer.effects[0].set_user.name, 'terms_accepted')
  assert.equal(dispense(user('2026-05-04T12:00:00Z'), { form: {} }).fields.intent.kind, 'done')
})
