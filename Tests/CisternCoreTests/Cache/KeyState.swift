/// The state of a key when two events occur.
enum KeyState: CaseIterable, Sendable {
  case absent, inProgress, fresh, onDiskOnly, stale, refreshing
}
