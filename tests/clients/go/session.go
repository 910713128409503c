package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"log"
	"net/http"
	"os"

	"session/till"
)

var (
	ctx   = context.Background()
	shop  = must(till.NewClientWithResponses(os.Getenv("TILL_URL")))
	lines = []till.RequestedLine{{ProductId: "espresso-beans", Quantity: 2}}
)

func main() {
	guest()
	customer()
}

func guest() {
	category := "coffee"
	products := must(shop.ListProductsWithResponse(ctx, &till.ListProductsParams{Category: &category})).JSON200
	for _, product := range products.Items {
		if product.ProductId == "espresso-beans" {
			fmt.Printf("product: %s, %s\n", money(product.Price), product.Availability)
		}
	}
	postalCode := "10115"
	basket := till.GuestBasket{Lines: lines, ShipTo: &till.Destination{Country: "DE", PostalCode: &postalCode}}
	quote := must(shop.QuoteGuestBasketWithResponse(ctx, basket)).JSON200
	fmt.Printf("quote of a guest: %s\n", money(quote.Total))

	secret := key()
	created := must(shop.CreateGuestWithResponse(ctx, &till.CreateGuestParams{GuestSecret: secret},
		till.Introduction{Name: "Grace Hopper", Email: "grace@example.com"}))
	guest := created.JSON201.GuestId
	home := till.NewAddress{Name: "Grace Hopper", Line1: "Weg 1", City: "Berlin", Country: "DE", PostalCode: &postalCode}
	placed := must(shop.PlaceGuestOrderWithResponse(ctx, guest,
		&till.PlaceGuestOrderParams{GuestSecret: secret, IdempotencyKey: key()},
		till.NewGuestOrder{Lines: lines, ExpectedTotal: &quote.Total, ShipTo: &home})).JSON201
	fmt.Printf("order of a guest: %s, %s\n", order(*placed), payment(*placed))
	read := must(shop.GetGuestOrderWithResponse(ctx, guest, placed.OrderId, &till.GetGuestOrderParams{GuestSecret: secret}))
	fmt.Printf("read: %s, %s\n", read.JSON200.Status, money(*read.JSON200.Total))

	postalCode = "1011"
	problem := must(shop.QuoteGuestBasketWithResponse(ctx, basket)).ApplicationproblemJSON400
	fault := (*problem.Errors)[0]
	fmt.Printf("fault: %d, %s, %s\n", problem.Status, fault.Pointer, fault.Code)
}

func customer() {
	body := till.NewCart{Lines: []till.NewCartLine{{ProductId: "espresso-beans", Quantity: 2}}}
	cart := must(shop.PutCartWithResponse(ctx, "ada", nil, body, signedIn)).JSON200
	fmt.Printf("cart: %d %s\n", cart.Lines[0].Quantity, cart.Lines[0].ProductId)
	placed := place(till.NewOrder{Lines: lines, Cart: cart.Version}).JSON201
	fmt.Printf("order: %s, %s\n", order(*placed), payment(*placed))
	read := must(shop.GetOrderWithResponse(ctx, placed.OrderId, nil, signedIn)).JSON200
	fmt.Printf("read: %s, %s\n", read.Status, money(*read.Total))
	list := must(shop.ListCustomerOrdersWithResponse(ctx, "ada", nil, signedIn)).JSON200
	for _, listed := range list.Items {
		if listed.OrderId == placed.OrderId {
			fmt.Printf("listed: %s\n", order(listed))
		}
	}

	problem := place(till.NewOrder{Lines: lines, ExpectedTotal: &till.Money{Amount: 1, Currency: "EUR"}}).ApplicationproblemJSON409
	fmt.Printf("problem: %d, %s, %s\n", problem.Status, problem.Type, money(*problem.Total))
}

func place(body till.NewOrder) *till.PlaceOrderResponse {
	return must(shop.PlaceOrderWithResponse(ctx, &till.PlaceOrderParams{IdempotencyKey: key()}, body, signedIn))
}

func signedIn(_ context.Context, request *http.Request) error {
	request.Header.Set("Authorization", "Bearer "+os.Getenv("TILL_TOKEN"))
	return nil
}

// A new secret or key: 32 random bytes.
func key() string {
	bytes := make([]byte, 32)
	rand.Read(bytes)
	return base64.RawURLEncoding.EncodeToString(bytes)
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func money(money till.Money) string {
	return fmt.Sprintf("%d %s", money.Amount, money.Currency)
}

func order(order till.Order) string {
	return fmt.Sprintf("%s, %s", order.Status, money(order.Total))
}

func payment(order till.Order) string {
	return order.Invoice.Payments[0].Type
}
