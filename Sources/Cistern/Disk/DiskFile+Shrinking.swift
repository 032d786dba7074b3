import LMDB

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension DiskFile {
  /// Evicts the oldest records, and purges dead generations, until so many pages are in use at most. For a file that
  /// nobody else has open.
  func evict(untilPages pages: Int) throws(LMDBError) {
    let recency = RecencyBitmap(capacity: 1)
    while true {
      let isDone = try environment.withWrite { (transaction) throws(LMDBError) -> Bool in
        var step = try WriteStep(file: self, recency: recency, in: &transaction)
        var isDone = false
        for _ in 0..<128 {
          if try step.livePages(in: transaction) <= pages {
            isDone = true
            break
          }
          if try step.evictOldest(sparing: false, in: &transaction) == nil {
            isDone = true
            break
          }
        }
        try step.finish(in: &transaction)
        return isDone
      }
      if isDone { return }
    }
  }

  /// Closes the file, and puts a compacted copy in its place. Whenever the process ends, one of the two is there, whole.
  func replaceByCopy() throws {
    let directory = environment.directory
    let copy = "\(directory)/\(DiskDirectory.copy)"
    DiskDirectory.removeCopy(in: directory)
    do {
      try environment.copy(to: copy, compacting: true)
      try close()
      guard unsafe rename("\(copy)/\(DiskDirectory.data)", "\(directory)/\(DiskDirectory.data)") == 0 else {
        throw SystemError(status: errno, operation: "replace \(directory)/\(DiskDirectory.data)")
      }
      // The table of readers went with the old file.
      unsafe unlink("\(directory)/\(DiskDirectory.lock)")
      DiskDirectory.removeCopy(in: directory)
      try DiskDirectory.synchronize(directory)
    } catch {
      DiskDirectory.removeCopy(in: directory)
      throw error
    }
  }
}
