/// The layer of a ``StoreDraft`` over one cache.
protocol StoreDraftLayer: AnyObject, Sendable {
  var isEmpty: Bool { get }
  func discard()
  func waitForRoom()
  nonisolated(nonsending) func prepareToCommit() async
  /// Returns the save of the current writes. A layer without writes has one, too, because it then forgets the keys that
  /// it has read.
  func beginSaving(_ policy: StoreDraftConflictPolicy, context: WriterContext?) -> any StoreDraftSave
}
