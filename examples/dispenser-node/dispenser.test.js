const assert = require('node:assert/strict')
const test = require('node:test')
const { dispense, settings } = require('./dispenser')

settings.page = '/upgrade'
const user = (ends) => ({ id: '1', name: 'Ada', columns: { trial_ends_at: ends } })

test('sends those whose trial has ended to the page that says so', () => {
  assert.deepEqual(dispense(user(1)).fields.intent, { kind: 'redirect', target: '/upgrade' })
})

test('lets everybody else on', () => {
  assert.equal(dispense(user(2 ** 40)).fields.intent.kind, 'done')
  assert.equal(dispense(user(null)).fields.intent.kind, 'done')
})
