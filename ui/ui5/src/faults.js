sap.ui.define(['sap/ui/core/Messaging', 'vestibule/box', 'vestibule/words'], (Messaging, box, words) => {
  'use strict';

  const V4 = 'sap.ui.model.odata.v4.ODataModel';

  /** What is known of a fault: messages of OData V4 models, and of V2 models, which name it otherwise. */
  function read(message) {
    const details = message.getTechnicalDetails() ?? {};
    const original = details.originalMessage ?? {};
    const headers = details.headers ?? {};
    return {
      model: message.getMessageProcessor(),
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

  /** Shows a fault, and resolves with whether the person wants to try again. */
  async function show(fault) {
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
    return answer === again;
  }

  /**
   * Says in one box, however many there are, that requests of the models failed. The session's own faults lead elsewhere, and
   * those that an application speaks of itself are left to it. `watched` are those who watch, of whom `models` tells the
   * models; `unsaved` tells whether anything would be lost, and `check` asks for the session. Returns how to stop.
   */
  return ({ watched, models, unsaved, check }) => {
    const messages = Messaging.getMessageModel().bindList('/');
    let removing = false;
    let told = null; // the faults of the box that is open

    /** Those whose model a fault comes from; all of them where it comes from no model of theirs. */
    function owners(model) {
      const all = [...watched];
      const some = all.filter((one) => models(one).includes(model));
      return some.length > 0 ? some : all;
    }
    const spokenOf = ({ model, status }) => owners(model).some(({ options }) => options.own?.includes(status));

    async function reload() {
      const again = words('ui5.fault.reload');
      const question = { title: again, text: words('ui5.fault.reloadUnsaved'), answers: [again, words('ui5.session.stay')] };
      if (!unsaved() || (await box.ask('warning', question)) === again) location.reload();
    }
    async function retry(faults) {
      // Where the model itself failed it does not ask for its metadata twice.
      if (faults.some(({ model }) => model?.isA(V4) && !model.getMetaModel().getObject('/'))) {
        await reload();
        return;
      }
      const concerned = new Set(faults.flatMap(({ model }) => owners(model).flatMap(models)));
      for (const model of concerned) {
        if (model.refresh && model.hasPendingChanges && !model.hasPendingChanges()) model.refresh();
      }
    }
    async function tell(faults) {
      const mine = faults.filter((fault) => !spokenOf(fault));
      for (const fault of faults.filter((one) => !mine.includes(one))) {
        for (const { options } of owners(fault.model)) if (options.own?.includes(fault.status)) options.told?.({ ...fault });
      }
      if (faults.some(({ status }) => status === 401 || status === 403) && (await check())) return;
      if (mine.length === 0) return;
      if (told) {
        told.push(...mine);
        return;
      }
      told = mine;
      try {
        if (await show(mine[0])) await retry(told);
      } finally {
        told = null;
      }
    }
    function changed() {
      if (removing) return;
      const technical = messages
        .getCurrentContexts()
        .map((context) => context.getObject())
        .filter((message) => message.getTechnical())
        .filter((message) => owners(message.getMessageProcessor()).some(({ options }) => options.messages !== false));
      if (technical.length === 0) return;
      removing = true;
      Messaging.removeMessages(technical);
      removing = false;
      void tell(technical.map(read));
    }
    messages.attachChange(changed);
    return () => messages.detachChange(changed);
  };
});
