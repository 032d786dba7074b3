import LMDB

extension WriteStep {
  /// Writes down the formats of a partition that are not yet in the file. One that another process wrote stays.
  mutating func putFormats(of partition: Partition, in transaction: inout WriteTransaction) throws(LMDBError) {
    for format in partition.formats.unwritten {
      outcome.formats.append((partition, format))
      if try transaction.codec(ofVersion: format.schemaVersion, of: partition.name, in: file.meta) != nil { continue }
      try transaction.put(
        Array(format.codec.utf8), forKey: MetaTable.format(ofVersion: format.schemaVersion, partition.name),
        in: file.meta)
      outcome.hasChanges = true
      outcome.touchedPages += 1
    }
  }
}
