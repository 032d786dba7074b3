/// The save of one layer. Only the thread of the save uses it.
protocol StoreDraftSave: AnyObject {
  /// The identity of the cache.
  var identity: ObjectIdentifier { get }
  /// The name of the cache.
  var name: String { get }
  /// Whether the save has writes.
  var hasWrites: Bool { get }
  /// Throws if the draft wrote a key that does not equal itself.
  func checkKeys() throws(CisternError)
  /// Returns the error with all keys in conflict, if there are any and the policy is to throw.
  func conflict() -> (any Error)?
  /// The write into the cache. Only for a draft over caches.
  func memberWrites() -> any StoreWriteMember
  /// Plans the writes into the draft below. Only for a draft of a draft. Throws if a key changed since the check for
  /// conflicts, and the policy is to throw.
  func plan() throws(CisternError)
  /// Applies the planned writes while the layer below is locked, if none of their keys was written since, and if `rest`
  /// returns true. Returns whether it did.
  func applyPlan(with rest: () -> Bool) -> Bool
  /// Removes the saved writes from the draft.
  func end()
  /// Ends the watches that the save has prolonged. Call it once, whether or not the layers were saved.
  func close()
}
