sap.ui.define(
  ['sap/ui/mdc/odata/v4/ValueHelpDelegate', 'sap/ui/model/Filter', 'sap/ui/model/FilterOperator', 'vestibule/mdc/phrases'],
  (Base, Filter, FilterOperator, phrases) => {
    'use strict';

    /**
     * A delegate for the value helps of filter fields: the rows of the set that Common.ValueList names, or the members of an
     * enumeration. What is typed is searched for by the service, or looked for in the text where the set has no search, which
     * the payload tells: `{ searchable: false }`.
     */
    return Object.assign({}, Base, {
      isSearchSupported: (help, content) => content.isA('sap.ui.mdc.valuehelp.content.MTable'),

      updateBindingInfo(help, content, info) {
        Base.updateBindingInfo.call(this, help, content, info);
        const text = content.getSearch();
        info.parameters.$search = (help.getPayload().searchable && phrases(text)) || undefined;
        if (!text || info.parameters.$search) return;
        const contains = new Filter({ path: content.getDescriptionPath(), operator: FilterOperator.Contains, value1: text, caseSensitive: false });
        info.filters = [...info.filters, contains];
      },

      /** The list opens as soon as somebody comes to the field with the pointer, and narrows as they type. */
      shouldOpenOnClick: () => Promise.resolve(true),

      showTypeahead: () => true,
    });
  },
);
