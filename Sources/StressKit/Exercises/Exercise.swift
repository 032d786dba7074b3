import Cistern

/// Operations on a separate cache beside the stressed cache, with an invariant that they check.
///
/// The caches of all exercises share one store, which closes and reopens with the main store. The store is large
/// enough that it never evicts a record. Therefore, a written value must be present.
protocol Exercise: Sendable {
  /// Opens the exercise's cache in a store that was just opened. No client performs operations during the call.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - isFirst: Whether the run begins. If so, the records in the store are from another run.
  /// - Throws: An error if the cache cannot be opened.
  func open(in store: Store, isFirst: Bool) throws

  /// Performs one operation of a client.
  func perform(by client: Performer) async

  /// Checks the invariant while no client performs operations.
  func settle() async
}
