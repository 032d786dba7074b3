@testable import CisternCore

extension ObserverRegistry {
  /// Records an event whose previous value is not known.
  func record(_ event: Change<Key, Value>.Event, context: WriterContext? = nil) {
    record(PendingChange(event), context: context)
  }
}
