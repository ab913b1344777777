sap.ui.define(['sap/ui/core/Messaging', 'vestibule/box', 'vestibule/words'], (Messaging, box, words) => {
  'use strict';

  /** What is known of a fault: messages of OData V4 models, and of V2 models, which name it otherwise. */
  function read(message) {
    const details = message.getTechnicalDetails() ?? {};
    const original = details.originalMessage ?? {};
    const headers = details.headers ?? {};
    return {
      status: Number(details.httpStatus ?? details.statusCode ?? 0),
      code: message.getCode() ?? '',
      id: original.innererror?.request_id ?? headers['x-request-id'] ?? '',
      wait: details.retryAfter ? Math.ceil((details.retryAfter - Date.now()) / 1000) : Number(headers['retry-after'] ?? 0),
      text: message.getMessage(),
    };
  }

  /** The key of the sentence that says what has happened. */
  function sentence({ status, code, text }) {
    // A V4 model has these words for a request without an answer; other faults without a status are those of scripts.
    if (status === 0 && (text === 'Network error' || !navigator.onLine)) return 'ui5.fault.network';
    if (status === 429 || code === 'busy') return 'ui5.fault.busy';
    if (status === 503 || status === 504 || status === 502) return 'ui5.fault.slow';
    if (status === 404) return 'ui5.fault.notFound';
    if (status === 401 || status === 403) return 'ui5.fault.forbidden';
    if (code === 'limit') return 'ui5.fault.limit';
    return 'ui5.fault.other';
  }

  function retry(models) {
    for (const model of models.filter((one) => one.isA('sap.ui.model.odata.v4.ODataModel'))) {
      if (!model.getMetaModel().getObject('/')) {
        location.reload(); // what failed was the model itself, which does not ask for its metadata twice
        return;
      }
    }
    for (const model of models.filter((one) => one.refresh && one.hasPendingChanges)) {
      if (!model.hasPendingChanges()) model.refresh();
    }
  }

  /** Shows a fault, and tries again where the person wants that. */
  async function show(fault, models) {
    const again = words('ui5.fault.again');
    const wait = fault.wait > 0 ? ` ${words('common.retryIn', fault.wait)}` : '';
    // The reference is for the people who run the host, who find it in their log.
    const reference = fault.id ? `\n\n${words('common.reference', fault.id)}` : '';
    const answer = await box.ask('error', {
      title: words('ui5.fault.title'),
      text: words(sentence(fault)) + wait + reference,
      answers: [again, words('ui5.fault.close')],
      details: fault.text,
    });
    if (answer === again) retry(models());
  }

  /**
   * Says in one box, however many there are, that requests of the models failed. The session's own faults lead elsewhere, and
   * those that the application speaks of itself are left to it. Returns how to stop.
   */
  return ({ own, models, check }) => {
    const messages = Messaging.getMessageModel().bindList('/');
    let removing = false;
    let open = false;

    async function tell(faults) {
      const told = faults.filter(({ status }) => !own.includes(status));
      if (faults.some(({ status }) => status === 401 || status === 403) && (await check())) return;
      if (told.length === 0 || open) return;
      open = true;
      await show(told[0], models);
      open = false;
    }
    function changed() {
      const technical = messages
        .getCurrentContexts()
        .map((context) => context.getObject())
        .filter((message) => message.getTechnical());
      if (technical.length === 0 || removing) return;
      removing = true;
      Messaging.removeMessages(technical);
      removing = false;
      void tell(technical.map(read));
    }
    messages.attachChange(changed);
    return () => messages.detachChange(changed);
  };
});
