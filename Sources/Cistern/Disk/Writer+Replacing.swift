import LMDB

extension Writer {
  /// What is on disk cannot be used any more: it is set aside, and an empty file begun. What is staged is whole, and goes
  /// into that. Readers that are inside the old file finish there, and are waited for.
  func replaceFile(because error: LMDBError) throws(LMDBError) {
    let old = engine.file
    engine.setFile(nil)
    let newName: String?
    do {
      newName = try engine.claim.withGate({ $0 as any Error }) { () throws(any Error) -> String? in
        // Another process may have been faster: then its new file is there already, and is not touched.
        let isOurs = try old.map { try $0.isInPlace() } ?? true
        try old?.close()
        return isOurs ? try DiskDirectory.setAside(in: engine.directory) : nil
      }
    } catch let failure {
      throw LMDBError(.ioError, operation: "replace the data file", message: "\(failure)")
    }
    if let newName {
      engine.report(.setAside, "the data file failed, and is now \(newName); an empty store was begun", cause: error)
    }
    try openFreshFile()
  }

  /// Another process has put another file in this one's place, or somebody removed it: goes on in what is there now.
  func reopenFile() throws(LMDBError) {
    let old = engine.file
    engine.setFile(nil)
    try old?.close()
    try openFreshFile()
  }

  /// Opens what is in the directory now, or begins it.
  func openFreshFile() throws(LMDBError) {
    var opening = DiskOpening(directory: engine.directory, options: engine.options, limits: engine.limits)
    defer { for report in opening.reports { engine.report(report) } }
    let file = try opening.reopen(engine.claim)
    deadGenerations = []
    extraMargin = 0
    ceiling = nil
    // Nothing of the old file's is known of the new one.
    for partition in engine.partitions {
      engine.stagedCount.add(partition.forgetFile(), ordering: .sequentiallyConsistent)
    }
    walk = nil
    engine.setFile(file)
    for partition in engine.partitions { engine.learnGeneration(of: partition) }
    engine.noteSizes(of: file)
    loadDeadGenerations()
  }
}
