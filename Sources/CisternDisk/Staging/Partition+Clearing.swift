import CisternCore

extension Partition {
  /// Notifies all openings of the loss of the file. The caller must not hold a lock or a transaction.
  func reportFileLoss() {
    report([])
    // A partition without a cache has no observers.
    _ = clearState.acknowledgeFileLoss()
  }

  /// Ends the loss of a key whose record an uncommitted clear hides, unless a write of the key is staged since.
  ///
  /// Such a key has no record to remove. Returns whether the loss ended.
  ///
  /// The order matters: a record that left staging before the look was published before, and so was the clear's end.
  func noteRemovalByClear(_ key: [UInt8]) -> Bool {
    let clearCount = clearCount
    var isRemoved = false
    staging.unlessStaged(key, clearCount: clearCount) { isRemoved = clearState.hidesRecords }
    if isRemoved { lostKeys.remove(key) }
    return isRemoved
  }
}
