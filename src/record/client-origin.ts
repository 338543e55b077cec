/**
 * The link `origin` of a report or study that a FHIR client or an import wrote. It stands beside those that the service makes itself from
 * messages,
 * images and the work of people, and these never change it.
 */
export const clientOrigin = 'client';
