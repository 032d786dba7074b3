/// The writes of a batch in one cache.
protocol StoreBatchMember: AnyObject, Sendable {
  var count: Int { get }
  var partition: (any TransactionalPartition)? { get }
  /// Returns the writes, for ``SharedStore/write(_:)``.
  func memberWrites(context: WriterContext?) -> any StoreWriteMember
}
