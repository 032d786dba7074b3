/// The entry that a policy would evict next, and its hit density.
@usableFromInline
package struct Nominee: Sendable {
  @usableFromInline package let number: SlotNumber
  @usableFromInline package let density: Float
}
