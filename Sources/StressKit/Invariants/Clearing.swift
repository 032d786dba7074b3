/// A removal of many keys, with the times of its call and its return.
struct Clearing: Sendable, Equatable {
  let call: UInt64
  var `return`: UInt64
}
