/// Whether the writer sends a report of an event. A state machine decides this, so that a condition that lasts is
/// reported once.
enum ReportDecision {
  case send
  case omit
}
