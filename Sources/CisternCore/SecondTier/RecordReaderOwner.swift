/// A partition that has a reader.
@usableFromInline
package protocol RecordReaderOwner: TransactionalPartition {
  /// The reader of the partition's records.
  var recordReader: any RecordReader { get }
}
