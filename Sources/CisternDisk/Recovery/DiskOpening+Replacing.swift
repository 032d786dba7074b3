import CisternCore
import LMDB
import Locking

extension DiskOpening {
  /// Replaces a file that exceeds the limit, or has another layout, with a copy of the records that fit. Returns the open file.
  mutating func replaceIfUnsuitable(
    _ file: DiskFile, _ claim: DirectoryClaim
  ) throws(CisternError) -> DiskFile {
    let limits = limits
    let directory = directory
    let former = file.layout.kind
    let layout = options.layout(replacing: former)
    let isUnsuitable = try lmdb { () throws(LMDBError) in try file.isUnsuitable(for: limits) }
    guard isUnsuitable || layout != former else { return file }
    let identity = file.identity ?? StoreIdentity()
    let notConverted =
      "the data file could not be converted from the layout \(former) to \(layout), and was not changed"
    // A copy restarts LMDB's transaction numbers, so the history does not apply to it.
    claim.forgetDataFile()
    do {
      var options = environmentOptions()
      // The copy is synchronized once, at its end.
      options.durability = .noSync
      let damagedCount = try file.replaceByNewest(within: limits, as: layout, options: options)
      if damagedCount > 0 {
        let (records, were) = damagedCount == 1 ? ("1 record", "was") : ("\(damagedCount) records", "were")
        add(.damagedRecord, "\(records) of the data file had a wrong checksum, and \(were) removed")
      }
    } catch let error as CisternError {
      // The copy did not begin.
      throw CisternError(
        error.code,
        isUnsuitable
          ? "the data file could not be rewritten for the disk limit and layout, and was not changed"
          : notConverted,
        location: directory, cause: error, remedy: nil)
    } catch {
      guard let error = error as? LMDBError else {
        throw CisternError(
          .diskFailed, "the data file could not be rewritten for the disk limit and layout", location: directory,
          cause: error, remedy: "Check the disk")
      }
      try lmdb { () throws(LMDBError) in try file.close() }
      if error.isAboutTheFile {
        try setAside("\(error)")
      } else if !isUnsuitable {
        throw CisternError(
          error.code == .noSpace ? .noSpace : .diskFailed, notConverted, location: directory, cause: error,
          remedy: "Free space on the device, or open the store with diskLayout \(former)")
      } else {
        // Usually the device is full. The file has only cached values, and prevents the store from shrinking.
        try system { () throws(SystemError) in try DiskDirectory.removeData(in: directory) }
        add(
          .setAside,
          "the data file could not be rewritten for the disk limit and layout, and was removed; the store is empty",
          cause: error)
      }
    }
    let options = environmentOptions()
    return try lmdb { () throws(LMDBError) in
      try DiskFile.open(directory: directory, options: options, layout: .only(layout), newIdentity: identity)
    }
  }
}
