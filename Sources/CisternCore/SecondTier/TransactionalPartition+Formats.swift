extension TransactionalPartition {
  /// False: the tier keeps no formats.
  package func namesOtherCodec(forVersion schemaVersion: UInt32) -> Bool { false }
}
