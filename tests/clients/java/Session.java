import java.security.SecureRandom;
import java.util.Base64;
import java.util.List;
import java.util.UUID;
import till.ApiClient;
import till.ApiException;
import till.api.CustomersApi;
import till.api.GuestsApi;
import till.api.OrdersApi;
import till.api.ProductsApi;
import till.model.CountryInput;
import till.model.Destination;
import till.model.GuestBasket;
import till.model.Introduction;
import till.model.Money;
import till.model.NewAddress;
import till.model.NewCart;
import till.model.NewCartLine;
import till.model.NewGuestOrder;
import till.model.NewOrder;
import till.model.Order;
import till.model.Problem;
import till.model.RequestedLine;

public class Session {
    static final ApiClient ANYONE = new ApiClient();
    static final ApiClient ADA = new ApiClient();
    static final List<RequestedLine> LINES = List.of(new RequestedLine().productId("espresso-beans").quantity(2));

    interface Request {
        Object send() throws ApiException;
    }

    public static void main(String[] arguments) throws Exception {
        ANYONE.updateBaseUri(System.getenv("TILL_URL"));
        ADA.updateBaseUri(System.getenv("TILL_URL"));
        ADA.setRequestInterceptor(
            request -> request.header("Authorization", "Bearer " + System.getenv("TILL_TOKEN")));
        guest();
        customer();
    }

    static void guest() throws Exception {
        var category = ProductsApi.APIListProductsRequest.newBuilder().category("coffee").build();
        var products = new ProductsApi(ANYONE).listProducts(category).getItems();
        var beans = products.stream().filter(product -> product.getProductId().equals("espresso-beans")).findFirst().get();
        System.out.printf("product: %s, %s%n", money(beans.getPrice()), beans.getAvailability());
        var guests = new GuestsApi(ANYONE);
        var shipTo = new Destination().country(CountryInput.DE).postalCode("10115");
        var basket = new GuestBasket().lines(LINES).shipTo(shipTo);
        var quote = GuestsApi.APIQuoteGuestBasketRequest.newBuilder().guestBasket(basket).build();
        var total = guests.quoteGuestBasket(quote).getTotal();
        System.out.printf("quote of a guest: %s%n", money(total));

        var bytes = new byte[32];
        new SecureRandom().nextBytes(bytes);
        var secret = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
        var introduction = new Introduction().name("Grace Hopper").email("grace@example.com");
        var guest = guests.createGuest(GuestsApi.APICreateGuestRequest.newBuilder()
            .guestSecret(secret).introduction(introduction).build()).getGuestId();
        var home = new NewAddress().name("Grace Hopper").line1("Weg 1").city("Berlin").country(CountryInput.DE).postalCode("10115");
        var placed = guests.placeGuestOrder(GuestsApi.APIPlaceGuestOrderRequest.newBuilder()
            .guestId(guest).guestSecret(secret).idempotencyKey(key())
            .newGuestOrder(new NewGuestOrder().lines(LINES).expectedTotal(total).shipTo(home)).build());
        System.out.printf("order of a guest: %s, %s%n", order(placed), payment(placed));
        var read = guests.getGuestOrder(GuestsApi.APIGetGuestOrderRequest.newBuilder()
            .guestId(guest).guestSecret(secret).orderId(placed.getOrderId()).build());
        System.out.printf("read: %s, %s%n", read.getStatus(), money(read.getTotal()));

        shipTo.postalCode("1011");
        var problem = refused(() -> guests.quoteGuestBasket(quote));
        var fault = problem.getErrors().get(0);
        System.out.printf("fault: %d, %s, %s%n", problem.getStatus(), fault.getPointer(), fault.getCode());
    }

    static void customer() throws Exception {
        var customers = new CustomersApi(ADA);
        var lines = List.of(new NewCartLine().productId("espresso-beans").quantity(2));
        var cart = customers.putCart(CustomersApi.APIPutCartRequest.newBuilder()
            .customerId("ada").newCart(new NewCart().lines(lines)).build());
        System.out.printf("cart: %d %s%n", cart.getLines().get(0).getQuantity(), cart.getLines().get(0).getProductId());
        var placed = place(new NewOrder().lines(LINES).cart(cart.getVersion()));
        System.out.printf("order: %s, %s%n", order(placed), payment(placed));
        var read = new OrdersApi(ADA).getOrder(OrdersApi.APIGetOrderRequest.newBuilder().orderId(placed.getOrderId()).build());
        System.out.printf("read: %s, %s%n", read.getStatus(), money(read.getTotal()));
        var list = customers.listCustomerOrders(CustomersApi.APIListCustomerOrdersRequest.newBuilder().customerId("ada").build());
        var listed = list.getItems().stream().filter(order -> order.getOrderId().equals(placed.getOrderId())).findFirst().get();
        System.out.printf("listed: %s%n", order(listed));

        var expected = new Money().amount(1L).currency("EUR");
        var problem = refused(() -> place(new NewOrder().lines(LINES).expectedTotal(expected)));
        System.out.printf("problem: %d, %s, %s%n", problem.getStatus(), problem.getType(), money(problem.getTotal()));
    }

    static Order place(NewOrder order) throws ApiException {
        return new OrdersApi(ADA).placeOrder(
            OrdersApi.APIPlaceOrderRequest.newBuilder().idempotencyKey(key()).newOrder(order).build());
    }

    /** The problem of a request that the shop refuses. */
    static Problem refused(Request request) throws Exception {
        try {
            throw new AssertionError("not refused: " + request.send());
        } catch (ApiException refusal) {
            return ANYONE.getObjectMapper().readValue(refusal.getResponseBody(), Problem.class);
        }
    }

    static String key() {
        return UUID.randomUUID().toString();
    }

    static String money(Money money) {
        return money.getAmount() + " " + money.getCurrency();
    }

    static String order(Order order) {
        return order.getStatus() + ", " + money(order.getTotal());
    }

    static String payment(Order order) {
        return order.getInvoice().getPayments().get(0).getType();
    }
}
