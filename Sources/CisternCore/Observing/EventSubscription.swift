/// A subscription to events, and the number of the event that its consumer received last.
struct EventSubscription: Sendable {
  let subscription: Subscription<IteratorMailbox>
  var last: EventNumber
}
